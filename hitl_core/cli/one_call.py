"""One call of a review on the terminal: what it is, what was decided, what came of it, its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO, assert_never

from hitl_core.cli import told
from hitl_core.cli.terminal import BOLD, DIM, GREEN, RED, YELLOW, Paint, say, say_field
from hitl_core.cli.values import say_args
from hitl_core.errors import Refused
from hitl_core.model import Action, Call, Decision, Escalation, Review, Run, Snapshot
from hitl_core.review.redaction import args_shown
from hitl_core.review.transitions import VERBS, deadline, step_at

Field = tuple[str, str | Paint]


def numbers_of(review: Review) -> dict[str, int]:
    """By key: the numbers that the cards give to the actions."""
    return {action.key: number for number, action in enumerate(review.actions, start=1)}


def may_mean(review: Review, named: str, calls: Iterable[Call]) -> list[Call]:
    """Of these calls those that a person can mean by a number on the card, a tool's name or a call's id."""
    numbers = numbers_of(review)
    return [
        call
        for call in calls
        if named
        in (
            call.tool_call_id,
            call.name,
            told.name_of(review, call),
            str(numbers.get(call.key, "-")),
        )
    ]


def one_of(review: Review, named: str, found: Sequence[Call]) -> Call:
    """The only one; raises Refused where another may have been meant."""
    if len(found) == 1:
        return found[0]
    raise ambiguous(review, named, found)


def ambiguous(review: Review, named: str, found: Iterable[Call]) -> Refused:
    numbers = numbers_of(review)
    which = ", ".join(
        f"{numbers.get(call.key, '-')} ({told.name_of(review, call)} {call.tool_call_id})"
        for call in found
    )
    return Refused("ambiguous", f"{named!r} may mean {which}: say another of its names.")


def say_call(snapshot: Snapshot, call: Call, *, rest: str | None, to: TextIO | None = None) -> None:
    """`rest` is what shows the rest of long values, which are cut; None cuts nothing."""
    review, now = snapshot.review, snapshot.now
    action, run = review.action(call.key), review.runs.get(call.key)
    number = numbers_of(review).get(call.key, "-")
    name = Paint(f"{number}  {told.name_of(review, call)}", BOLD)
    say(name, "  ", Paint(call.tool_call_id, DIM), "  ", _state(review, call), to=to)
    fields = [("rule", f"{call.verdict.rule or 'none, the default'}: {call.verdict.reason}")]
    for label, text in [*fields, *_asked(review, action, now), *_ran(run, now)]:
        say_field(label, text, indent=4, to=to)
    say_args(args_shown(review, call), label="arguments", rest=rest, to=to)
    if action is not None and action.revision > 1:
        before = args_shown(review, call, action.revision - 1)
        say_args(before, label="before the edit", rest=rest, to=to)


def verdict_of(decision: Decision) -> Paint:
    """`approved by Ada (slack T0ACME/U0ADA)`."""
    by = told.who(decision.by) if decision.by else "the policy, as nobody decided in time"
    runs = decision.type in ("approve", "edit")
    return Paint(f"{VERBS[decision.type]} by {by}", GREEN if runs else RED)


def _state(review: Review, call: Call) -> Paint:
    action = review.action(call.key)
    if action is None:
        allowed = call.verdict.kind == "allow"
        return Paint("allowed", GREEN) if allowed else Paint("denied", RED)
    runs = action.decision is None or action.decision.type in ("approve", "edit")
    if review.cancelled and runs:
        return Paint("cancelled", RED)
    if action.decision is not None:
        return Paint(VERBS[action.decision.type], GREEN if runs else RED)
    return Paint("waits for a person", YELLOW)


def _asked(review: Review, action: Action | None, now: float) -> Iterator[Field]:
    if action is None:
        return
    if action.name != action.request.name:
        yield "replaces", action.request.name
    if action.decision is not None:
        yield "decided", verdict_of(action.decision)
        yield "", told.when(action.decision.at, now)
        if action.decision.message:
            yield "said", action.decision.message
    elif not review.cancelled:
        needs = " (reject needs a reason)" if action.config.reject_reason == "required" else ""
        yield "decisions", ", ".join(action.config.allowed_decisions) + needs
    yield "stands in", ", ".join(map(told.place, action.places))
    for step in action.escalations:
        yield _passed_on(action, step, now)
    if action.pending and not review.cancelled:
        yield from _ahead(action, now)


def _passed_on(action: Action, step: Escalation, now: float) -> Field:
    """A fallback is no escalation: nobody was late."""
    to, when = told.place(step.to), told.when(step.at, now)
    if step.step is None:
        wanted = ", ".join(map(told.place, action.route.notify))
        because = f": {step.why}" if step.why else ""
        return "fallback", f"to {to}, as it could not be shown in {wanted}{because}, {when}"
    why = f"by {told.who(step.by)}" if step.by else "as this was not decided in time"
    return "escalated", f"to {to} {why}, {when}"


def _ahead(action: Action, now: float) -> Iterator[Field]:
    """What time will do."""
    if action.next_step is not None:
        step, at = action.route.escalate[action.next_step], step_at(action)
        when = (
            told.when(at, now) if at is not None else "once its card is posted and time has passed"
        )
        yield "escalates", f"to {told.place(step.to)}, {when}"
    if action.route.expire is not None and (end := deadline(action)) is not None:
        yield "expires", f"{told.when(end, now)}: {action.route.expire.decision}"


def _ran(run: Run | None, now: float) -> Iterator[Field]:
    if run is None:
        return
    since = told.when(run.at, now)
    match run.state:
        case "started":
            yield "run", Paint(f"started {since}", YELLOW)
        case "done":
            yield "result", run.line or "it ran"
        case "in_doubt":
            yield "run", Paint(f"in doubt: started {since}, and its process died", RED)
        case "cleared":
            yield "run", "may start again"
        case "skipped":
            yield "run", "skipped: whether it ran is not known"
        case _:
            assert_never(run.state)
    if run.by is not None:
        yield "says", told.who(run.by)
    elif run.state == "in_doubt":
        for vote in run.votes:
            yield "voted", f"{vote.type}: {told.who(vote.by)}"
