"""What waits for people: pending actions, and calls in doubt. Pure."""

from __future__ import annotations

from typing import NamedTuple

from hitl_core.model import Action, Grant, Place, Review, Reviewers

#: Used in place of an action's key: all actions and doubts of a review.
WHOLE_REVIEW = "0"


class OpenItem(NamedTuple):
    """A pending action, or a call in doubt (`action` is None). `places`: where people are asked; `grants`:
    who of them may decide.
    """

    key: str
    name: str
    places: tuple[Place, ...]
    grants: tuple[Grant, ...]
    fallback: Place | None
    action: Action | None


def open_items(review: Review, place: Place | None = None) -> list[OpenItem]:
    """The open items at this place; without a place, all."""
    if review.cancelled is not None or review.status == "done":
        return []
    pending = [
        OpenItem(one.key, one.name, one.places, one.grants, one.route.fallback, one)
        for one in review.actions
        if one.is_pending
    ]
    doubts = [
        OpenItem(
            call.key,
            review.tool_name(call),
            review.places_of(call),
            review.grants_of(call),
            (review.action(call.key) or call).route.fallback,
            None,
        )
        for call in review.calls_in_doubt
    ]
    return [one for one in (*pending, *doubts) if place is None or place in one.places]


def pending_actions(review: Review, place: Place) -> list[Action]:
    """The pending actions at this place."""
    items = open_items(review, place)
    return [item.action for item in items if item.action is not None]


def grants_for(review: Review, key: str, *, in_doubt: bool = False) -> tuple[Grant, ...]:
    """Who may decide on the action with this key, or on any action and any call that is or was in doubt
    (WHOLE_REVIEW). With `in_doubt`: who may say what became of the call, and so may read it. If its doubt was
    opened to a fallback, these are also the members of the fallback; that gives them no right to decide on
    the action.
    """
    if key == WHOLE_REVIEW:
        doubts = [grant for call in review.calls_asked_about for grant in review.grants_of(call)]
        return (*(grant for action in review.actions for grant in action.grants), *doubts)
    if not in_doubt and (action := review.action(key)) is not None:
        return action.grants
    call = review.call(key)
    return review.grants_of(call) if call else (Grant(review.places, Reviewers()),)
