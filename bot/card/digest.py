"""The card of a digest: how many reviews of an agent wait at a place, with a line for each of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hitl_core.model import Action, Place, Review

from ..text import shorten
from .actions import make_action_line
from .compose import MAX_WHY, nearest_deadline
from .model import NOBODY, ActionLine, Card, Deciders, Origin, PlaceProblem
from .people import deciders_of, merge_people
from .sentences import headline

#: The most lines of a digest. More reviews are counted.
MAX_LINES = 10


def build_digest(
    digest_id: str, place: Place, agent: str, reviews: Sequence[Review], waiting: int, total: int
) -> Card:
    """`reviews` are the first waiting ones, at least one if any waits; `waiting` and `total` count all. Of
    the agent's words the card has only names and the facts of its calls. Nothing is decided on it: its only
    button opens the reviews one by one. Only the first action of each review is drawn, because the agent
    chooses how large it is.
    """
    found = [(review, _waiting(review, place)) for review in reviews[:MAX_LINES]]
    rows = [(review, actions) for review, actions in found if actions]
    lines = tuple(_line(*row, number) for number, row in enumerate(rows, start=1))
    deadlines = [nearest_deadline(actions) for _, actions in rows]
    ends = [end for end in deadlines if end and end.at is not None]
    first = min(ends, key=lambda one: one.at or 0.0, default=None)
    title = _title(headline.subject(agent), waiting, total)
    return Card(
        review_id=digest_id,
        place=place,
        origin=Origin(None, (), "", None),
        agent=headline.subject(agent),
        title=title,
        bare_title=title,
        summary=f"{title}.",
        bare_summary=f"{title}.",
        warnings=(),
        open_actions=(),
        waiting=lines,
        page_keys=tuple(line.key for line in lines),
        approve_all=(),
        seal="",
        differences="",
        table=None,
        doubts=(),
        decision_lines=(),
        elsewhere=(),
        cancel_votes=(),
        escalation_people=NOBODY,
        first_message=None,
        notes=(),
        place_problems=_problems([review for review, _ in rows], place),
        next_step=None,
        deadline=first and replace(first, name=None),
        decision_time=None,
        deciders=_deciders(rows, is_all=len(rows) == waiting),
        more_waiting=waiting - len(lines) if lines else 0,
    )


def _problems(reviews: Sequence[Review], place: Place) -> tuple[PlaceProblem, ...]:
    """The first look-up that fails for these reviews: the same people are asked about all of them."""
    found = [
        review.delivery_problems[place] for review in reviews if place in review.delivery_problems
    ]
    return tuple(
        PlaceProblem((), place, shorten(one.why, MAX_WHY), one.since, is_here=True)
        for one in found[:1]
    )


def _title(agent: str, waiting: int, total: int) -> str:
    if not waiting:
        return f"{agent}: none of {total:,} {_reviews(total)} waits here any more"
    of = f" of {total:,}" if total > waiting else ""
    return f"{agent}: {waiting:,}{of} {_reviews(total)} {'waits' if waiting == 1 else 'wait'}"


def _reviews(count: int) -> str:
    return "review" if count == 1 else "reviews"


def _waiting(review: Review, place: Place) -> list[Action]:
    if review.cancelled:
        return []
    return [action for action in review.actions if action.is_pending and place in action.places]


def _deciders(rows: Sequence[tuple[Review, list[Action]]], *, is_all: bool) -> tuple[Deciders, ...]:
    """Who may decide: the same people for all reviews of a digest. The quorum and the requester are only
    given if they are the same for all reviews; the requester only if all reviews were loaded (`is_all`).
    """
    each = [
        one
        for review, actions in rows
        for one in deciders_of(
            actions, dict.fromkeys((a.key for a in actions), 0), review.requester
        )
    ]
    if not each:
        return ()
    quorums = {one.quorum for one in each}
    requesters = {one.excluded_requester for one in each}
    quorum = quorums.pop() if len(quorums) == 1 else 1
    requester = requesters.pop() if is_all and len(requesters) == 1 else None
    return (Deciders((), merge_people(one.people for one in each), quorum, requester),)


def _line(review: Review, waiting: list[Action], number: int) -> ActionLine:
    """The line of the first waiting action. Its name says how many more the review has."""
    first, more = make_action_line(review, waiting[0], number), len(waiting) - 1
    name = f"{first.name} (+{more})" if more else first.name
    return replace(first, key=str(number), name=name)
