"""The card of a digest: how many reviews of an agent wait at a place, and a line for each of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hitl_core.model import Place, Review

from .compose import build_card
from .model import ActionLine, Card, Origin
from .sentences import headline
from .values import NOBODY

#: The lines of a digest. The others are counted.
MAX_LINES = 10


def build_digest(
    digest_id: str, place: Place, agent: str, reviews: Sequence[Review], waiting: int, total: int
) -> Card:
    """`reviews` are the first ones that wait, one at least if any waits; `waiting` and `total` count all. It
    has no words of the agent but names and the facts of its calls, and it decides nothing: its one button
    opens the reviews one by one.
    """
    cards = [build_card(review, place) for review in reviews[:MAX_LINES]]
    lines = tuple(_line(card, number) for number, card in enumerate(cards, start=1) if card.waiting)
    ends = [card.deadline for card in cards if card.deadline and card.deadline.at is not None]
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
        place_problems=(),
        next_step=None,
        deadline=first and replace(first, name=None),
        decision_time=None,
        deciders=cards[0].deciders if cards else (),
        more_waiting=waiting - len(lines) if lines else 0,
    )


def _title(agent: str, waiting: int, total: int) -> str:
    if not waiting:
        return f"{agent}: nothing waits here any more of {total:,} {_reviews(total)}"
    of = f" of {total:,}" if total > waiting else ""
    return f"{agent}: {waiting:,}{of} {_reviews(total)} {'waits' if waiting == 1 else 'wait'}"


def _reviews(count: int) -> str:
    return "review" if count == 1 else "reviews"


def _line(card: Card, number: int) -> ActionLine:
    """The first action that waits; its name says how many more the review has."""
    first, more = card.waiting[0], len(card.waiting) - 1
    name = f"{first.name} (+{more})" if more else first.name
    return replace(first, key=str(number), number=number, name=name)
