"""What waits for people: pending actions, and calls in doubt. Pure."""

from __future__ import annotations

from typing import NamedTuple

from hitl_core.model import Action, Grant, Place, Review


class OpenItem(NamedTuple):
    """`places`: where people are asked; `grants`: who of them may decide. `action` is None for a call in
    doubt.
    """

    key: str
    name: str
    places: tuple[Place, ...]
    grants: tuple[Grant, ...]
    fallback: Place | None
    action: Action | None


def open_items(review: Review, place: Place | None = None) -> list[OpenItem]:
    """Those at this place, or all."""
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
    """Those at this place."""
    items = open_items(review, place)
    return [item.action for item in items if item.action is not None]
