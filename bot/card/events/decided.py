"""The decisions and their results, one line for each action. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hitl_core.model import Action, Call, Cancellation, Decision, Place, Review, Run
from hitl_core.review import (
    cancel_reason_of,
    message_of_answer,
)

from ... import text
from ..arguments import (
    MAX_COMPARED,
    MIN_ALIKE,
    argument_rows,
    call_values,
    format_value,
    list_arguments,
    main_fact,
    mask,
    mask_action,
)
from ..model import CallValue, DecidedElsewhere, DecisionLine, Edit, Outcome
from .history import edit_of, edits_of
from .votes import message_of

#: The most characters of the argument that distinguishes a line from the others.
MAX_WHICH = 40
#: The most characters of the main fact of a decided call. Its last value may exceed them.
MAX_FACT = 60


def decision_lines(review: Review, here: list[Action], place: Place) -> tuple[DecisionLine, ...]:
    """The lines in the model's order. A call in doubt has no line, because the card asks about it."""
    if review.cancelled is not None:
        lines = [_cancel_line(review, review.cancelled, action) for action in here]
        return _distinguish(review, lines)
    doubted = {call.key for call in review.calls_in_doubt}
    decided = {a.key: a for a in here if a.decision is not None}
    lines: list[DecisionLine] = []
    for call in review.calls:
        run = review.runs.get(call.key)
        if call.key in doubted:
            continue
        if (action := decided.get(call.key)) is not None and action.decision is not None:
            lines.append(_decision_line(review, action, action.decision, run))
        elif (
            run is not None
            and run.answered_by is not None
            and review.action(call.key) is None
            and place in review.places_of(call)
        ):
            lines.append(_allow_line(review, call, run))
    return _distinguish(review, lines)


def _distinguish(review: Review, lines: list[DecisionLine]) -> tuple[DecisionLine, ...]:
    """The lines. If several are of one tool, they have a number; if these have the same fact, also an
    argument that differs.
    """
    numbers = {action.key: number for number, action in enumerate(review.actions, start=1)}
    tools = Counter(line.name for line in lines)
    facts = Counter((line.name, line.fact) for line in lines if line.fact)
    which: dict[str, str] = {}
    for (name, fact), count in facts.items():
        if count > 1:
            same = [line.key for line in lines if (line.name, line.fact) == (name, fact)]
            which |= _distinct_arguments(review, same)
    return tuple(
        replace(
            line,
            number=numbers.get(line.key),
            distinct_argument=which.get(line.key, ""),
            values=_values(review, line.key) if tools[line.name] >= MIN_ALIKE else None,
        )
        if tools[line.name] > 1
        else line
        for line in lines
    )


def _values(review: Review, key: str) -> tuple[CallValue, ...] | None:
    """The arguments, for comparing them; None if the policy now hides them, or if they are too large."""
    action, arguments = review.action(key), review.arguments(key)
    if action is None or action.config.hide_when_decided or len(arguments.data) > MAX_COMPARED:
        return None
    masked = mask_action(action, arguments.parse())
    return call_values(masked, argument_rows(masked))


def _distinct_arguments(review: Review, keys: list[str]) -> dict[str, str]:
    """By key, the first visible argument in which the actions differ."""
    values = {
        key: _visible_arguments(review, action) for key in keys if (action := review.action(key))
    }
    for path in dict.fromkeys(path for each in values.values() for path in each):
        if len({each.get(path) for each in values.values()}) > 1:
            return {
                key: f"{each[path][0]} {text.truncate(text.one_line(each[path][1]), MAX_WHICH).text}"
                for key, each in values.items()
                if path in each
            }
    return {}


def _visible_arguments(review: Review, action: Action) -> dict[tuple[str, ...], tuple[str, str]]:
    """The labels and values, by path."""
    masked = mask_action(action, review.arguments(action.key).parse())
    pairs = zip(argument_rows(masked), list_arguments(masked), strict=True)
    return {row.path: (argument.label, argument.value) for row, argument in pairs}


def elsewhere_of(review: Review, here: list[Action]) -> tuple[DecidedElsewhere, ...]:
    """The actions that were decided at the first place before the others were escalated to this place."""
    keys = {action.key for action in here}
    origins = {place for action in here for place in action.route.notify}
    return tuple(
        DecidedElsewhere(action.request.name, action.decision.type, action.decision.by)
        for action in review.actions
        if action.decision is not None
        and action.key not in keys
        and origins & set(action.route.notify)
    )


def decision_time(review: Review, here: list[Action]) -> float | None:
    """Seconds from the submission to the last decision. None after a doubt, because doubts take longer."""
    if any(run.answered_by for run in review.runs.values()):
        return None
    times = [action.decision.at for action in here if action.decision is not None]
    return max(times) - review.created_at if times and len(times) == len(here) else None


def _decision_line(
    review: Review, action: Action, decision: Decision, run: Run | None
) -> DecisionLine:
    call = review.call(action.key)
    name = action.request.name
    tool = review.tool_name(call) if call else name
    return DecisionLine(
        key=action.key,
        revision=action.revision,
        name=name if tool == name else f"{name} → {tool}",
        type=decision.type,
        fact=_action_fact(review, action),
        by=action.deciders,
        message=message_of(
            message_of_answer(
                review, action, decision.answer, decision.message or _answer_text(decision)
            )
        ),
        edits=_kept_edits(action, edits_of(review, action)),
        outcome=_outcome(review, tool, run),
    )


def _action_fact(review: Review, action: Action, revision: int | None = None) -> str:
    """The main fact of a revision, by default of the newest; "" if the policy now hides it."""
    if action.config.hide_when_decided:
        return ""
    args = review.arguments(action.key, revision).parse()
    return main_fact(mask_action(action, args), MAX_FACT)


def _kept_edits(action: Action, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    if not action.config.hide_when_decided:
        return tuple(edits)
    return tuple(
        replace(one, changes=(), more_changes=len(one.changes) + one.more_changes) for one in edits
    )


def _answer_text(decision: Decision) -> str | None:
    """The answer of an approval, if it is more than yes."""
    answer = decision.answer
    return None if answer is None or isinstance(answer, bool) else format_value(answer)


def _cancel_line(review: Review, cancelled: Cancellation, action: Action) -> DecisionLine:
    """The line of a cancelled action. A rejection, an answer or a skip before that still counts; any other
    call did not run.
    """
    if action.decision is not None and action.decision.type not in ("approve", "edit"):
        return _decision_line(review, action, action.decision, None)
    return DecisionLine(
        key=action.key,
        revision=action.revision,
        name=action.request.name,
        type="cancel",
        fact=_action_fact(review, action),
        by=(cancelled.by,) if cancelled.by else (),
        message=message_of(cancel_reason_of(review)),
        is_note=cancelled.by is None and review.hides_values,
    )


def move_lines(review: Review, gone: list[Action], place: Place) -> tuple[DecisionLine, ...]:
    """The actions that an edit moved away from this place. Their newer arguments are not shown here."""
    lines: list[DecisionLine] = []
    for action in gone:
        at = action.former_places[place]
        edit = next(edit for edit in action.edits if edit.under and edit.at == at)
        lines.append(
            DecisionLine(
                key=action.key,
                revision=edit.revision,
                name=action.request.name,
                type="moved",
                fact=_action_fact(review, action, edit.revision - 1),
                by=(edit.by,),
                edits=_kept_edits(action, [edit_of(review, action, edit)]),
            )
        )
    return tuple(lines)


def _allow_line(review: Review, call: Call, run: Run) -> DecisionLine:
    """The line of a call that the policy allowed, if a person answered a doubt about it."""
    masked = mask(review.arguments(call.key).parse(), None, call.redact)
    fact = "" if call.hide_when_decided else main_fact(masked, MAX_FACT)
    outcome = _outcome(review, call.name, run)
    return DecisionLine(call.key, run.attempt, call.name, "allow", fact, outcome=outcome)


def _outcome(review: Review, name: str, run: Run | None) -> Outcome | None:
    if run is None:
        return None
    match run.state:
        case "done" if run.line:
            # Our own sentence has no hash, or replaces words that may quote hidden values.
            is_note = run.result_hash is None or review.hides_values
            return Outcome("note" if is_note else "result", name, text.one_line(run.line))
        case "paused":
            return Outcome("paused", name)
        case "done" if run.by:
            return Outcome("ran", name, by=run.by)
        case "skipped":
            return Outcome("skipped", name, by=run.by)
        case "cleared" if run.by:
            return Outcome("rerun", name, by=run.by)
        case "started" if run.rerun_by:
            return Outcome("rerun", name, by=run.rerun_by)
        case _:
            return None
