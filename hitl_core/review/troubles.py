"""Why something of a review can't be shown where it waits, for people and operators to read. Pure."""

from __future__ import annotations

from hitl_core.errors import Refused
from hitl_core.model import Event, Place, Review, Trouble
from hitl_core.review.changed import Changed, event_of

#: The longest reason that is kept.
MAX_WHY = 500


def note_trouble(review: Review, place: Place, why: str, now: float) -> Changed:
    """The first reason stays until the trouble is over: what alternates draws no card again and again. Raises
    Refused where one is noted, or nothing waits there.
    """
    waiting = any(action.pending and place in action.places for action in review.actions)
    if place in review.troubles or not waiting or review.cancelled is not None:
        raise Refused("unchanged", "This is noted already.")
    troubles = {**review.troubles, place: Trouble(why=why[:MAX_WHY], since=now)}
    return _changed(review, troubles, event_of("unreachable", review, now, why=why, place=place))


def end_trouble(review: Review, place: Place, now: float) -> Changed:
    """Raises Refused where there is none."""
    if place not in review.troubles:
        raise Refused("unchanged", "There is no trouble there.")
    troubles = {at: trouble for at, trouble in review.troubles.items() if at != place}
    return _changed(review, troubles, event_of("reachable", review, now, place=place))


def _changed(review: Review, troubles: dict[Place, Trouble], event: Event) -> Changed:
    return Changed(review.model_copy(update={"troubles": troubles}), event)
