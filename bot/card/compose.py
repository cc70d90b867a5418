"""Review → Card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot import text
from bot.card import words
from bot.card.arguments import shown_of
from bot.card.closed import closed_of, elsewhere_of, moved_of, took
from bot.card.deciders import called, deciders_of, joined, message_of, said_of
from bot.card.history import first_of, notes_of
from bot.card.model import (
    Card,
    Deciders,
    Doubt,
    Ends,
    Listed,
    Next,
    Open,
    Origin,
    Unshown,
)
from bot.card.odd import warning
from bot.card.opened import all_opened, in_short, listed
from bot.card.parts import NOBODY, People, Said
from hitl_core.model import Action, Call, MessageRef, Place, Review, Reviewers
from hitl_core.review.redaction import redacted, schema_shown
from hitl_core.review.transitions import deadline, steps_taken

#: How many actions a card shows with everything. Of more it has a line each.
MAX_OPEN = 10
#: A button that names each action and revision carries at most 2,000 characters; this many fit.
MAX_APPROVED = 200
MAX_WHY = 400


def card(review: Review, place: Place, posts: Mapping[Place, MessageRef] | None = None) -> Card:
    """The card of a review at one of its places: the actions that stand there. `posts`, for the way back, are
    the messages that it has already.
    """
    here = [action for action in review.actions if place in action.places]
    gone = [action for action in review.actions if place in action.left]
    waiting = [action for action in here if action.pending and not review.cancelled]
    number_of = {action.key: n for n, action in enumerate(review.actions, start=1)}
    escalated = bool(here) and all(place not in action.route.notify for action in here)
    doubts = [call for call in review.doubts if place in review.places_of(call)]
    opened, short = _waiting(review, waiting, number_of)
    approvable = _approvable(waiting)
    at = words.Standing(review, here, waiting, doubts, _was_passed_on(here, place), opened, gone)
    return Card(
        review_id=review.id,
        place=place,
        origin=_origin(review),
        title=words.title(at),
        summary=words.summary(at),
        warnings=_warnings(review),
        open=opened,
        waiting=short,
        turns=turns_of(review, place),
        approve_all=approvable,
        seal=review.seal(*(key for key, _ in approvable)),
        confirm_all=any(action.config.confirm for action in waiting),
        doubts=tuple(_doubt(review, call) for call in doubts),
        closed=closed_of(review, here, place) + moved_of(review, gone, place),
        elsewhere=elsewhere_of(review, here) if escalated else (),
        cancels=_cancels(review),
        called=_called(waiting, place) if escalated else NOBODY,
        first=first_of(here, place, posts or {}) if escalated else None,
        notes=notes_of(here),
        unshown=_unshown(review, place, number_of),
        next=_next(here, waiting),
        ends=_ends(waiting),
        took=None if doubts else took(review, here),
        deciders=deciders_of(waiting, number_of, review.requester)
        or _deciders_of_doubts(review, doubts),
    )


def turns_of(review: Review, place: Place) -> tuple[str, ...]:
    """The keys of what stands here, page by page of the modal behind Review, in the model's order."""
    return tuple(action.key for action in review.actions if place in action.places)


def _was_passed_on(here: list[Action], place: Place) -> bool:
    """By a person or by time, and not only as it could not be shown elsewhere."""
    return all(place not in action.route.notify for action in here) and any(
        step.to == place and step.step is not None for action in here for step in action.escalations
    )


def _waiting(
    review: Review, waiting: list[Action], number_of: dict[str, int]
) -> tuple[tuple[Open, ...], tuple[Listed, ...]]:
    if len(waiting) > MAX_OPEN:
        return (), tuple(listed(review, action, number_of[action.key]) for action in waiting)
    opened = all_opened(review, waiting, number_of)
    return opened, tuple(in_short(one) for one in opened)


def _origin(review: Review) -> Origin:
    return Origin(
        requester=review.requester and text.one_line(review.requester),
        path=tuple(text.shortened(agent, 60) for agent in review.path),
        thread=text.shortened(review.thread_id, 60),
        conversation=review.origin,
    )


def _warnings(review: Review) -> tuple[str, ...]:
    """What is odd in the names of those who ask."""
    said = [("The agent's name", review.agent), ("The requester's name", review.requester or "")]
    said += [("The name of an agent on the way", agent) for agent in review.path]
    return tuple(dict.fromkeys(f"{name} {odd}." for name, it in said if (odd := warning(it))))


def _unshown(review: Review, place: Place, number_of: dict[str, int]) -> tuple[Unshown, ...]:
    """Of all places: nobody else says of what waits elsewhere that it does."""
    found: list[Unshown] = []
    for at, trouble in review.troubles.items():
        waiting = [a for a in review.actions if a.pending and at in a.places]
        if waiting and not review.cancelled:
            numbers = [number_of[a.key] for a in waiting] if len(review.actions) > 1 else []
            why = text.shortened(trouble.why, MAX_WHY)
            found.append(Unshown(tuple(numbers), at, why, trouble.since, at == place))
    return tuple(found)


def _approvable(waiting: list[Action]) -> tuple[tuple[str, int], ...]:
    """All that wait, where each may be approved as it is: two at least."""
    plain = all(
        "approve" in a.config.allowed_decisions and a.config.answer_schema is None for a in waiting
    )
    if not plain or not 1 < len(waiting) <= MAX_APPROVED:
        return ()
    return tuple((action.key, action.revision) for action in waiting)


def _called(waiting: list[Action], place: Place) -> People:
    """Whom the steps that led here name."""
    grants = [
        grant
        for action in waiting
        for grant in action.grants[1:]
        if place in grant.places and grant.reviewers.named
    ]
    people = called(grants)
    return People(people.users, people.groups)


def _doubt(review: Review, call: Call) -> Doubt:
    action, args = review.action(call.key), review.arguments(call.key).parse()
    schema = schema_shown(action.config) if action else None
    shown = shown_of(args, schema, redacted(action, args) if action else ())
    run, rule = review.runs[call.key], action.route.reviewers if action else Reviewers()
    return Doubt(
        key=call.key,
        attempt=run.attempt,
        seal=review.seal(call.key),
        name=review.tool(call),
        shown=shown,
        quorum=rule.quorum,
        but=text.one_line(review.requester or "") if rule.exclude_requester else None,
        said=said_of(run.votes, rule),
    )


def _deciders_of_doubts(review: Review, doubts: list[Call]) -> tuple[Deciders, ...]:
    """How many of them it takes stands with each call."""
    people = joined(called(review.grants_of(call)) for call in doubts)
    return (Deciders((), people, 1, None),) if people else ()


def _cancels(review: Review) -> tuple[Said, ...]:
    if not review.cancels or review.cancelled:
        return ()
    whys = dict.fromkeys(vote.message for vote in review.cancels if vote.message)
    most = max(action.route.reviewers.reject_quorum for action in review.actions)
    return (Said("cancel", tuple(v.by for v in review.cancels), most, message_of("; ".join(whys))),)


def _next(here: list[Action], waiting: list[Action]) -> Next | None:
    """The nearest step of the actions that wait here."""
    taken = steps_taken(here)
    steps = [
        Next(step.to, _at(action, step.after), step.after, taken)
        for action in waiting
        if action.next_step is not None
        for step in (action.route.escalate[action.next_step],)
    ]
    return min(steps, key=lambda step: (step.at is None, step.at or step.after), default=None)


def _ends(waiting: list[Action]) -> Ends | None:
    ends = [
        Ends(deadline(action), expire.after, expire.decision, action.name)
        for action in waiting
        if (expire := action.route.expire) is not None
    ]
    nearest = min(ends, key=lambda end: (end.at is None, end.at or end.after), default=None)
    if nearest is None or len({(end.at, end.decision) for end in ends}) > 1:
        return nearest
    return replace(nearest, name=None if len(ends) == len(waiting) else nearest.name)


def _at(action: Action, after: float) -> float | None:
    return None if action.clock is None else action.clock + after
