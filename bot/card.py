"""What people are shown of a review at one place: decided once, drawn by every channel. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bot import text
from hitl_core.model import Action, Call, Decision, DecisionType, Place, Review, Reviewer, Run
from hitl_core.review.transitions import deadline

#: How many actions one card offers at once. More wait, and move up as these are decided.
MAX_OPEN = 10
MAX_INLINE = 160
MAX_BLOCK = 1200
MAX_ARGUMENTS = 20
MAX_ACTION = 2600
MAX_LABEL = 60
#: What all open actions of a card may take: Slack refuses a message beyond about 13,000 characters.
MAX_CARD = 8000


@dataclass(frozen=True)
class Argument:
    """One argument: its name, its value as people read it, and how many characters are not shown."""

    label: str
    value: str
    block: bool
    missing: int = 0


@dataclass(frozen=True)
class Open:
    """An action that waits: everything that will run, and the answers that are allowed."""

    key: str
    revision: int
    number: int
    name: str
    why: str
    arguments: tuple[Argument, ...]
    missing: int
    warnings: tuple[str, ...]
    allowed: tuple[DecisionType, ...]


@dataclass(frozen=True)
class Doubt:
    """A call that may or may not have run: its process died in between."""

    key: str
    revision: int
    name: str
    arguments: tuple[Argument, ...]
    missing: int


@dataclass(frozen=True)
class Change:
    """One argument that an edit changed; None where it was or is absent."""

    label: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Closed:
    """One quiet line: what was decided, by whom, and what came of it. `by` is None for the deadline."""

    name: str
    type: DecisionType | Literal["allow"]
    by: Reviewer | None
    message: str | None
    changes: tuple[Change, ...]
    result: str | None
    result_by: Reviewer | None


@dataclass(frozen=True)
class Note:
    """Where the review went as well: by a person's hand, or by time."""

    to: Place
    at: float
    by: Reviewer | None


@dataclass(frozen=True)
class Card:
    """`summary` is the notification: a full sentence. `more` counts open actions not drawn yet."""

    review_id: str
    agent: str
    requester: str | None
    title: str
    summary: str
    escalated: bool
    open: tuple[Open, ...]
    doubts: tuple[Doubt, ...]
    closed: tuple[Closed, ...]
    more: int
    notes: tuple[Note, ...]
    next_place: Place | None
    deadline: float | None
    places: tuple[Place, ...]


def card(review: Review, place: Place) -> Card:
    """The card of a review at one of its places: the actions that stand there."""
    here = [action for action in review.actions if place in action.places]
    waiting = [action for action in here if action.pending]
    number_of = {action.key: n for n, action in enumerate(review.actions, start=1)}
    doubts = tuple(_doubt(review, call) for call in review.doubts)
    escalated = bool(here) and all(place not in action.route.notify for action in here)
    ends = [end for action in waiting if (end := deadline(action)) is not None]
    drawn = _fitting([_open(review, a, number_of[a.key]) for a in waiting[:MAX_OPEN]])
    return Card(
        review_id=review.id,
        agent=text.one_line(review.agent),
        requester=review.requester,
        title=_title(review, here, waiting, len(doubts), escalated),
        summary=_summary(review, here, waiting, len(doubts), escalated),
        escalated=escalated,
        open=drawn,
        doubts=doubts,
        closed=_closed(review, here),
        more=len(waiting) - len(drawn),
        notes=_notes(here, place),
        next_place=_next_place(waiting),
        deadline=min(ends, default=None),
        places=tuple(dict.fromkeys(p for action in waiting for p in action.places)),
    )


def arguments_of(args: dict[str, Any], schema: dict[str, Any] | None) -> tuple[Argument, ...]:
    """All arguments as people read them, in the schema's order, uncut."""
    order = list((schema or {}).get("properties") or {})
    keys = [k for k in order if k in args] + [k for k in args if k not in order]
    found: list[Argument] = []
    for key in keys:
        shown = text.visible(text.shown_value(args[key]))
        block = "\n" in shown or len(shown) > MAX_INLINE
        found.append(Argument(text.one_line(key)[:MAX_LABEL], shown, block))
    return tuple(found)


def _cut(arguments: tuple[Argument, ...]) -> tuple[tuple[Argument, ...], int]:
    """What fits on the card, and how many characters don't: each value is cut by itself, so a long one
    can't push a later one out of sight."""
    fit: list[Argument] = []
    room, missing = MAX_ACTION, 0
    for argument in arguments:
        if len(fit) == MAX_ARGUMENTS:
            missing += len(argument.value)
            continue
        shown = text.cut(argument.value, min(MAX_BLOCK, max(40, room)))
        room -= len(shown.text)
        missing += shown.missing
        fit.append(Argument(argument.label, shown.text, argument.block, shown.missing))
    return tuple(fit), missing


def _fitting(actions: list[Open]) -> tuple[Open, ...]:
    """As many as one card holds, the first in any case."""
    fit: list[Open] = []
    room = MAX_CARD
    for action in actions:
        room -= 300 + sum(len(a.label) + len(a.value) for a in action.arguments)
        if fit and room < 0:
            break
        fit.append(action)
    return tuple(fit)


def _open(review: Review, action: Action, number: int) -> Open:
    args = review.arguments(action.key).parse()
    arguments, missing = _cut(arguments_of(args, action.config.args_schema))
    return Open(
        key=action.key,
        revision=action.revision,
        number=number,
        name=action.request.name,
        why=text.cut(text.one_line(action.request.description), 300).text,
        arguments=arguments,
        missing=missing,
        warnings=_warnings(args),
        allowed=action.config.allowed_decisions,
    )


def _warnings(args: dict[str, Any]) -> tuple[str, ...]:
    found = {key: text.warning(f"{key}{text.shown_value(value)}") for key, value in args.items()}
    return tuple(f"{text.one_line(k)[:MAX_LABEL]} {odd}." for k, odd in found.items() if odd)[:5]


def _doubt(review: Review, call: Call) -> Doubt:
    action = review.action(call.key)
    schema = action.config.args_schema if action else None
    args = review.arguments(call.key).parse()
    arguments, missing = _cut(arguments_of(args, schema))
    return Doubt(call.key, action.revision if action else 1, call.name, arguments, missing)


def _closed(review: Review, here: list[Action]) -> tuple[Closed, ...]:
    doubted = {call.key for call in review.doubts}
    decided = {a.key: a for a in here if a.decision is not None and a.key not in doubted}
    lines: list[Closed] = []
    for call in review.calls:
        run = review.runs.get(call.key)
        if (action := decided.get(call.key)) is not None and action.decision is not None:
            lines.append(_line(call.name, action.decision, _changes(review, action), run))
        elif run is not None and run.by is not None and call.key not in doubted:
            # Allowed without asking, but a person settled a doubt about it.
            result, result_by = _result(run)
            lines.append(Closed(call.name, "allow", None, None, (), result, result_by))
    return tuple(lines)


def _line(name: str, decision: Decision, changes: tuple[Change, ...], run: Run | None) -> Closed:
    message = None
    if decision.message:
        shown = text.cut(text.one_line(decision.message), 500)
        message = shown.text + ("…" if shown.missing else "")
    result, result_by = _result(run)
    return Closed(name, decision.type, decision.by, message, changes, result, result_by)


def _result(run: Run | None) -> tuple[str | None, Reviewer | None]:
    if run is None or run.state in ("started", "in_doubt"):
        return None, None
    match run.state:
        case "done":
            return (
                text.one_line(run.line) if run.line else None if run.by is None else "It ran"
            ), run.by
        case "skipped":
            return "Skipped: whether it ran is not known", run.by
        case "cleared":
            return "Runs again", run.by


def _changes(review: Review, action: Action) -> tuple[Change, ...]:
    """What an edit changed, argument by argument."""
    if action.decision is None or action.decision.type != "edit":
        return ()
    old = review.arguments(action.key, action.revision - 1).parse()
    new = review.arguments(action.key).parse()
    schema = action.config.args_schema
    before = {a.label: a.value for a in arguments_of(old, schema)}
    after = {a.label: a.value for a in arguments_of(new, schema)}
    return tuple(
        Change(label, before.get(label), after.get(label))
        for label in dict.fromkeys([*after, *before])
        if before.get(label) != after.get(label)
    )


def _notes(here: list[Action], place: Place) -> tuple[Note, ...]:
    """One note a place, in the order in which the review got there."""
    found: dict[Place, Note] = {}
    for action in here:
        for step in action.escalations:
            found.setdefault(step.to, Note(step.to, step.at, step.by))
    return tuple(found.values())


def _next_place(waiting: list[Action]) -> Place | None:
    for action in waiting:
        if (step := action.next_step) is not None:
            return action.route.escalate[step].to
    return None


def _title(
    review: Review, here: list[Action], waiting: list[Action], doubts: int, escalated: bool
) -> str:
    agent = text.cut(text.one_line(review.agent), 60).text
    if doubts:
        return f"{agent}: did {_tools(doubts)} run?"
    if waiting:
        asks = f"{agent} asks to run {_tools(len(waiting))}"
        return f"Escalated: {asks}" if escalated else asks
    return f"{agent}: {_tools(len(here) or len(review.calls))} decided"


def _summary(
    review: Review, here: list[Action], waiting: list[Action], doubts: int, escalated: bool
) -> str:
    agent = text.cut(text.one_line(review.agent), 60).text
    if doubts:
        names = _listed([call.name for call in review.doubts])
        return f"{agent} stopped in the middle of {names}. Say in Slack whether it ran."
    if not waiting:
        names = _listed([action.request.name for action in here])
        return f"{agent}: {names or 'everything'} decided."
    names = _listed([action.request.name for action in waiting])
    allowed = {decision for a in waiting for decision in a.config.allowed_decisions}
    verbs = [v for v in ("approve", "edit", "reject", "respond", "ignore") if v in allowed]
    told = _listed(
        ["answer" if v == "respond" else "skip" if v == "ignore" else v for v in verbs], "or"
    )
    start = "Escalated: " if escalated else ""
    return f"{start}{agent} asks to run {names}. {told.capitalize()} it."


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"


def _listed(words: list[str], last: str = "and") -> str:
    if len(words) > 6:
        words = [*words[:5], f"{len(words) - 5} more"]
    return (
        f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
    )
