"""Review → Card."""

from __future__ import annotations

from bot import text
from bot.card import words
from bot.card.arguments import shown_of, warnings_of
from bot.card.closed import closed_of, elsewhere_of, took
from bot.card.model import Card, Doubt, Ends, Next, Note, Open
from hitl_core.model import Action, Call, Place, Review
from hitl_core.policy.read import DESCRIPTION_PREFIX
from hitl_core.review.transitions import deadline, steps_taken

#: How many actions one card lists at once. More wait, and move up as these are decided.
MAX_OPEN = 10


def card(review: Review, place: Place) -> Card:
    """The card of a review at one of its places: the actions that stand there."""
    here = [action for action in review.actions if place in action.places]
    waiting = [action for action in here if action.pending and not review.cancelled]
    number_of = {action.key: n for n, action in enumerate(review.actions, start=1)}
    escalated = bool(here) and all(place not in action.route.notify for action in here)
    doubts = [call for call in review.doubts if place in review.places_of(call)]
    places = [p for action in waiting for p in action.places]
    places += [p for call in doubts for p in review.places_of(call)]
    at = words.Standing(review, here, waiting, doubts, escalated)
    return Card(
        review_id=review.id,
        place=place,
        requester=review.requester and text.one_line(review.requester),
        title=words.title(at),
        summary=words.summary(at),
        open=tuple(_open(review, a, number_of[a.key]) for a in waiting[:MAX_OPEN]),
        doubts=tuple(_doubt(review, call) for call in doubts),
        closed=closed_of(review, here, place),
        elsewhere=elsewhere_of(review, here) if escalated else (),
        more=len(waiting[MAX_OPEN:]),
        notes=_notes(here),
        next=_next(here, waiting),
        ends=_ends(waiting),
        took=None if doubts else took(review, here),
        places=tuple(dict.fromkeys(places)),
    )


def _open(review: Review, action: Action, number: int) -> Open:
    args, schema = review.arguments(action.key).parse(), action.config.args_schema
    return Open(
        key=action.key,
        revision=action.revision,
        number=number,
        name=action.request.name,
        why=_why(action),
        shown=shown_of(args, schema),
        warnings=warnings_of(args, schema),
        allowed=action.config.allowed_decisions,
    )


def _why(action: Action) -> str:
    """The description, without what the card says anyway: LangChain's repeats the call below its prefix."""
    told, *_ = action.request.description.split(f"\n\nTool: {action.request.name}\nArgs: ")
    return "" if told.strip() == DESCRIPTION_PREFIX else text.shortened(told.strip(), 300)


def _doubt(review: Review, call: Call) -> Doubt:
    action = review.action(call.key)
    schema = action.config.args_schema if action else None
    shown = shown_of(review.arguments(call.key).parse(), schema)
    return Doubt(call.key, review.runs[call.key].attempt, review.tool(call), shown)


def _notes(here: list[Action]) -> tuple[Note, ...]:
    """One note a place, in the order in which the review got there."""
    found: dict[Place, Note] = {}
    for action in here:
        origin = action.route.notify
        for step in action.escalations:
            found.setdefault(step.to, Note(step.to, origin, step.at, step.by))
            origin = (*origin, step.to)
    return tuple(found.values())


def _next(here: list[Action], waiting: list[Action]) -> Next | None:
    """The nearest step of the actions that wait here."""
    taken = steps_taken(here)
    steps = [
        Next(step.to, action.submitted_at + step.after, taken)
        for action in waiting
        if action.next_step is not None
        for step in (action.route.escalate[action.next_step],)
    ]
    return min(steps, key=lambda step: step.at, default=None)


def _ends(waiting: list[Action]) -> Ends | None:
    ends = [
        Ends(end, action.route.expire.decision, action.request.name)
        for action in waiting
        if action.route.expire is not None and (end := deadline(action)) is not None
    ]
    nearest = min(ends, key=lambda end: end.at, default=None)
    if nearest is None or len({(end.at, end.decision) for end in ends}) > 1:
        return nearest
    return Ends(nearest.at, nearest.decision, None if len(ends) == len(waiting) else nearest.name)
