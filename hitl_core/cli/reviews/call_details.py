"""Prints one call of a review: its rule, decision, result and arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO, assert_never

from hitl_core.cli import phrases
from hitl_core.cli.reviews.args_text import say_args
from hitl_core.cli.terminal import (
    BOLD,
    DIM,
    GREEN,
    LABEL_WIDTH,
    RED,
    YELLOW,
    Paint,
    say,
    say_field,
)
from hitl_core.errors import Refused
from hitl_core.model import Action, Call, Decision, Escalation, Review, Run, Snapshot
from hitl_core.review import (
    PAST_VERBS,
    deadline,
    message_of_answer,
    next_step_at,
    reason_of,
    rule_reason_of,
    title_of,
    visible_args,
)

Field = tuple[str, str | Paint]


def card_numbers(review: Review) -> dict[str, int]:
    """The numbers of the actions on the cards, by key."""
    return {action.key: number for number, action in enumerate(review.actions, start=1)}


def find_calls(review: Review, named: str, calls: Iterable[Call]) -> list[Call]:
    """The calls that match a number on the card, a tool's name, or a tool call id. `#2` is always a number;
    `2` may also be an id.
    """
    numbers = card_numbers(review)

    def matches(call: Call) -> bool:
        number = numbers.get(call.key, "-")
        names = (call.tool_call_id, call.name, action_title(review, call))
        return named in (*names, f"{number}", f"#{number}")

    return [call for call in calls if matches(call)]


def action_title(review: Review, call: Call) -> str | None:
    """The title that another system gave its action."""
    action = review.action(call.key)
    return action and title_of(review, action)


def only_call(review: Review, named: str, matches: Sequence[Call]) -> Call:
    """The only match. Raises Refused if there are several."""
    if len(matches) == 1:
        return matches[0]
    raise ambiguous_error(review, named, matches)


def ambiguous_error(review: Review, named: str, matches: Iterable[Call]) -> Refused:
    signed = {key: f"#{number}" for key, number in card_numbers(review).items()}
    which = ", ".join(
        f"{signed.get(call.key, '-')} ({phrases.tool_name(review, call)} {call.tool_call_id})"
        for call in matches
    )
    return Refused(
        "ambiguous", f"{named!r} can mean {which}: use the number with its #, or the tool call id."
    )


def say_call(snapshot: Snapshot, call: Call, *, rest: str | None, to: TextIO | None = None) -> None:
    """Print the call. `rest` is the command that shows long values, which are cut; None cuts nothing."""
    review, now = snapshot.review, snapshot.now
    action, run = review.action(call.key), review.runs.get(call.key)
    number = card_numbers(review).get(call.key, "-")
    name = Paint(f"{number}  {phrases.tool_name(review, call)}", BOLD)
    say(name, "  ", Paint(call.tool_call_id, DIM), "  ", _state_text(review, call), to=to)
    fields = [("rule", _rule_text(review, call))]
    reason, says = reason_of(review, call), "agent says"
    width = len(says) if reason else LABEL_WIDTH
    for label, value in [*fields, *_decision_fields(review, action, now), *_run_fields(run, now)]:
        say_field(label, value, indent=4, width=width, to=to)
    say_args(visible_args(review, call), label="arguments", rest=rest, to=to)
    if reason:
        say_field(says, phrases.quote(reason), indent=4, width=width, to=to)
    if action is not None and action.rejected_before is not None:
        before = visible_args(review, call, 0)
        say_args(before, label="rejected before", rest=rest, to=to)
    if action is not None and action.revision > 1:
        before = visible_args(review, call, action.revision - 1)
        say_args(before, label="before the edit", rest=rest, to=to)


def _rule_text(review: Review, call: Call) -> str:
    """The rule, and its reason. The agent's own words are quoted as the agent's."""
    name, reason = call.verdict.rule or "none, the default", rule_reason_of(review, call)
    if not reason:
        return f"{name}: the reason is not shown, because this review has hidden values"
    return (
        f"{name}: {f'the agent says {phrases.quote(reason)}' if call.verdict.by_agent else reason}"
    )


def decision_text(decision: Decision) -> Paint:
    """`approved by Ada (slack T0ACME/U0ADA)`."""
    by = (
        phrases.person_text(decision.by) if decision.by else "the policy, as nobody decided in time"
    )
    runs = decision.type in ("approve", "edit")
    return Paint(f"{PAST_VERBS[decision.type]} by {by}", GREEN if runs else RED)


def _state_text(review: Review, call: Call) -> Paint:
    action = review.action(call.key)
    if action is None:
        allowed = call.verdict.kind == "allow"
        return Paint("allowed", GREEN) if allowed else Paint("denied", RED)
    runs = action.decision is None or action.decision.type in ("approve", "edit")
    if review.cancelled and runs:
        return Paint("cancelled", RED)
    if action.decision is not None:
        return Paint(PAST_VERBS[action.decision.type], GREEN if runs else RED)
    return Paint("waits for a person", YELLOW)


def _decision_fields(review: Review, action: Action | None, now: float) -> Iterator[Field]:
    if action is None:
        return
    if action.name != action.request.name:
        yield "replaces", action.request.name
    if (earlier := action.rejected_before) is not None:
        who = ", ".join(map(phrases.person_text, earlier.by))
        why = f": {phrases.quote(earlier.message)}" if earlier.message else ""
        yield "attempt", f"{earlier.times + 1}; {who} rejected the one before{why}"
    if action.decision is not None:
        yield "decided", decision_text(action.decision)
        yield "", phrases.time_text(action.decision.at, now)
        answer, message = action.decision.answer, action.decision.message
        if message := message_of_answer(review, action, answer, message):
            yield "message", message
    elif not review.cancelled:
        needs = " (reject needs a reason)" if action.config.reject_reason == "required" else ""
        yield "decisions", ", ".join(action.config.allowed_decisions) + needs
    yield "shown in", ", ".join(map(phrases.place_text, action.places))
    for step in action.escalations:
        yield _escalation_field(action, step, now)
    if action.is_pending and not review.cancelled:
        yield from _timer_fields(action, now)


def _escalation_field(action: Action, step: Escalation, now: float) -> Field:
    """A fallback has its own field, because it has nothing to do with lateness."""
    to, when = phrases.place_text(step.to), phrases.time_text(step.at, now)
    if step.step is None:
        planned_places = ", ".join(map(phrases.place_text, action.route.notify))
        reason = f": {step.why}" if step.why else ""
        return "fallback", f"to {to}, as it can't be decided in {planned_places}{reason}, {when}"
    late = f"as {step.why}" if step.why else "as this was not decided in time"
    why = f"by {phrases.person_text(step.by)}" if step.by else late
    return "escalated", f"to {to} {why}, {when}"


def _timer_fields(action: Action, now: float) -> Iterator[Field]:
    """The next escalation and the deadline."""
    if action.next_step is not None:
        step, at = action.route.escalate[action.next_step], next_step_at(action)
        when = (
            phrases.time_text(at, now)
            if at is not None
            else "once its card is posted and time has passed"
        )
        yield "escalates", f"to {phrases.place_text(step.to)}, {when}"
    if action.route.expire is not None and (end := deadline(action)) is not None:
        yield "expires", f"{phrases.time_text(end, now)}: {action.route.expire.decision}"


def _run_fields(run: Run | None, now: float) -> Iterator[Field]:
    if run is None:
        return
    since = phrases.time_text(run.at, now)
    match run.state:
        case "started":
            yield "run", Paint(f"started {since}", YELLOW)
        case "done":
            yield "result", run.line or "it ran"
        case "paused":
            yield "run", "asks a question of its own before it continues"
        case "in_doubt":
            yield (
                "run",
                Paint(f"in doubt: started {since} or earlier; it is not known whether it ran", RED),
            )
        case "cleared":
            yield "run", "may start again"
        case "skipped":
            yield "run", "skipped: it is not known whether it ran"
        case _:
            assert_never(run.state)
    if run.by is not None:
        yield "by", phrases.person_text(run.by)
    elif run.state == "in_doubt":
        for vote in run.votes:
            yield "voted", f"{vote.type}: {phrases.person_text(vote.by)}"
