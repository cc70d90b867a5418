"""What was decided, and what came of it: one quiet line an action."""

from __future__ import annotations

from typing import Any

from bot import text
from bot.card.arguments import MAX_LABEL, label_of, ordered
from bot.card.model import Change, Closed, Elsewhere
from hitl_core.model import Action, Cancellation, Decision, Place, Review, Reviewer, Run

MAX_MESSAGE = 500
MAX_CHANGES = 8
#: The most that the old or the new text of one change takes; and how much of what stayed is told around it.
MAX_CHANGE = 300
AROUND = 24


def closed_of(review: Review, here: list[Action], place: Place) -> tuple[Closed, ...]:
    """In the model's order. A call in doubt is asked about instead."""
    if review.cancelled is not None:
        return tuple(_cancelled(review.cancelled, action) for action in here)
    doubted = {call.key for call in review.doubts}
    decided = {a.key: a for a in here if a.decision is not None}
    lines: list[Closed] = []
    for call in review.calls:
        run = review.runs.get(call.key)
        if call.key in doubted:
            continue
        if (action := decided.get(call.key)) is not None and action.decision is not None:
            name = (
                call.name
                if review.tool(call) == call.name
                else f"{call.name} → {review.tool(call)}"
            )
            lines.append(_line(name, action.decision, _changes(review, action), run))
        elif (
            run is not None
            and run.by is not None
            and review.action(call.key) is None
            and place in review.places_of(call)
        ):
            # Allowed without asking, but a person settled a doubt about it.
            result, by = _result(run)
            lines.append(Closed(call.name, "allow", None, None, (), 0, result, by))
    return tuple(lines)


def _cancelled(cancelled: Cancellation, action: Action) -> Closed:
    """A rejection and its like stand; what was approved, or still waited, didn't run."""
    if action.decision is not None and action.decision.type not in ("approve", "edit"):
        return _line(action.request.name, action.decision, [], None)
    reason = _message(cancelled.reason)
    return Closed(action.request.name, "cancel", cancelled.by, reason, (), 0, None, None)


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


def _line(name: str, decision: Decision, changes: list[Change], run: Run | None) -> Closed:
    result, by = _result(run)
    more = max(0, len(changes) - MAX_CHANGES)
    told = tuple(changes[:MAX_CHANGES])
    return Closed(
        name, decision.type, decision.by, _message(decision.message), told, more, result, by
    )


def _message(told: str | None) -> str | None:
    return text.cut(text.one_line(told), MAX_MESSAGE).text if told else None


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


def _changes(review: Review, action: Action) -> list[Change]:
    """What an edit changed, argument by argument."""
    if action.decision is None or action.decision.type != "edit" or action.revision == 1:
        return []  # an edit that changed no argument: another system's, or only the tool's name
    old = review.arguments(action.key, action.revision - 1).parse()
    new = review.arguments(action.key).parse()
    keys = ordered({**old, **new}, action.config.args_schema)
    return [_change(key, old, new) for key in keys if _said(old, key) != _said(new, key)]


def _change(key: str, old: dict[str, Any], new: dict[str, Any]) -> Change:
    before, after = _said(old, key), _said(new, key)
    label = text.cut(label_of(key), MAX_LABEL).text
    if before is not None and after is not None:
        before, after = _differing(before, after)
    return Change(label, before and _cut(before), after and _cut(after))


def _said(args: dict[str, Any], key: str) -> str | None:
    return text.visible(text.shown_value(args[key])) if key in args else None


def _cut(value: str) -> str:
    return text.cut(value, MAX_CHANGE, lines=8).text


def _differing(old: str, new: str) -> tuple[str, str]:
    """Both without the long beginning and the long end that they share, cut between words."""
    least = min(len(old), len(new))
    same = next((i for i in range(least) if old[i] != new[i]), least)
    start = _between_words(old, same)
    rest = least - same
    same = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    back = _between_words(old[::-1], same)
    parts = (value[start : len(value) - back] for value in (old, new))
    first, second = (("…" if start else "") + part + ("…" if back else "") for part in parts)
    return first, second


def _between_words(value: str, same: int) -> int:
    """Where to begin, when the first `same` characters say nothing new: between two words of that line."""
    line = value.rfind("\n", 0, same) + 1
    return max(line, value.rfind(" ", line, max(line, same - AROUND)) + 1)
