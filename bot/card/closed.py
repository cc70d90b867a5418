"""What was decided, and what came of it: one quiet line an action."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from bot import text
from bot.card.arguments import arguments_of
from bot.card.changes import edit_of, edits_of
from bot.card.deciders import message_of
from bot.card.model import Closed, Elsewhere
from hitl_core.model import Action, Call, Cancellation, Decision, Place, Review, Reviewer, Run
from hitl_core.review.redaction import redacted, schema_shown

#: What one line says of the argument that tells it from the others.
MAX_WHICH = 40


def closed_of(review: Review, here: list[Action], place: Place) -> tuple[Closed, ...]:
    """In the model's order. A call in doubt is asked about instead."""
    if review.cancelled is not None:
        lines = [_cancelled(review, review.cancelled, action) for action in here]
        return _told_apart(review, lines)
    doubted = {call.key for call in review.doubts}
    decided = {a.key: a for a in here if a.decision is not None}
    lines: list[Closed] = []
    for call in review.calls:
        run = review.runs.get(call.key)
        if call.key in doubted:
            continue
        if (action := decided.get(call.key)) is not None and action.decision is not None:
            lines.append(_line(review, action, action.decision, run))
        elif (
            run is not None
            and run.by is not None
            and review.action(call.key) is None
            and place in review.places_of(call)
        ):
            lines.append(_allowed(call, run))
    return _told_apart(review, lines)


def _told_apart(review: Review, lines: list[Closed]) -> tuple[Closed, ...]:
    """With a number and an argument where several are of one tool."""
    numbers = {action.key: number for number, action in enumerate(review.actions, start=1)}
    tools = Counter(line.name for line in lines)
    which: dict[str, str] = {}
    for name, count in tools.items():
        if count > 1:
            which |= _which(review, [line.key for line in lines if line.name == name])
    return tuple(
        replace(line, number=numbers.get(line.key), which=which.get(line.key, ""))
        if tools[line.name] > 1
        else line
        for line in lines
    )


def _which(review: Review, keys: list[str]) -> dict[str, str]:
    """By key: the first argument in which they differ, as people may read it."""
    found = {key: _shown(review, action) for key in keys if (action := review.action(key))}
    labels = dict.fromkeys(label for each in found.values() for label in each)
    for label in labels:
        if len({each.get(label) for each in found.values()}) > 1:
            return {
                key: f"{label} {text.cut(text.one_line(each[label]), MAX_WHICH).text}"
                for key, each in found.items()
                if label in each
            }
    return {}


def _shown(review: Review, action: Action) -> dict[str, str]:
    args = review.arguments(action.key).parse()
    shown = arguments_of(args, schema_shown(action.config), redacted(action, args))
    return {argument.label: argument.value for argument in shown}


def elsewhere_of(review: Review, here: list[Action]) -> tuple[Elsewhere, ...]:
    """What the same people at the first place decided before the rest came here."""
    keys = {action.key for action in here}
    origins = {place for action in here for place in action.route.notify}
    return tuple(
        Elsewhere(action.request.name, action.decision.type, action.decision.by)
        for action in review.actions
        if action.decision is not None
        and action.key not in keys
        and origins & set(action.route.notify)
    )


def took(review: Review, here: list[Action]) -> float | None:
    """Seconds from the question to the last decision; None where people were asked about a doubt as well,
    since that took longer."""
    if any(run.by for run in review.runs.values()):
        return None
    times = [action.decision.at for action in here if action.decision is not None]
    return max(times) - review.created_at if times and len(times) == len(here) else None


def _line(review: Review, action: Action, decision: Decision, run: Run | None) -> Closed:
    call = review.call(action.key)
    name = action.request.name
    tool = review.tool(call) if call else name
    result, result_by = _result(run)
    return Closed(
        key=action.key,
        revision=action.revision,
        name=name if tool == name else f"{name} → {tool}",
        type=decision.type,
        by=action.deciders,
        message=message_of(decision.message or _answer(decision)),
        edits=edits_of(review, action),
        result=result,
        result_by=result_by,
    )


def _answer(decision: Decision) -> str | None:
    """What was answered beside an approval, where it is more than yes."""
    given = decision.answer
    return None if given is None or isinstance(given, bool) else text.shown_value(given)


def _cancelled(review: Review, cancelled: Cancellation, action: Action) -> Closed:
    """A rejection and its like stand; what was approved, or still waited, didn't run."""
    if action.decision is not None and action.decision.type not in ("approve", "edit"):
        return _line(review, action, action.decision, None)
    by = (cancelled.by,) if cancelled.by else ()
    reason = message_of(cancelled.reason)
    name, revision = action.request.name, action.revision
    return Closed(action.key, revision, name, "cancel", by, reason, (), None, None)


def moved_of(review: Review, gone: list[Action], place: Place) -> tuple[Closed, ...]:
    """What an edit took away from this place; its newer arguments are not for those who are here to see."""
    found: list[Closed] = []
    for action in gone:
        at = action.left[place]
        edit = next(edit for edit in action.edits if edit.under and edit.at == at)
        changes = (edit_of(review, action, edit),)
        name = action.request.name
        found.append(
            Closed(action.key, edit.revision, name, "moved", (edit.by,), None, changes, None, None)
        )
    return tuple(found)


def _allowed(call: Call, run: Run) -> Closed:
    """Without asking, but a person settled a doubt about it."""
    result, by = _result(run)
    return Closed(call.key, run.attempt, call.name, "allow", (), None, (), result, by)


def _result(run: Run | None) -> tuple[str | None, Reviewer | None]:
    if run is None:
        return None, None
    match run.state:
        case "done" if run.line:
            return text.one_line(run.line), run.by
        case "done" if run.by:
            return "It ran", run.by
        case "skipped":
            return "Skipped: whether it ran is not known", run.by
        case "cleared" if run.by:
            return "Runs again", run.by
        case _:
            return None, None
