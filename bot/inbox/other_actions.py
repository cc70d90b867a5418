"""Hides the actions of others: on the card of a place that doesn't reach a person, they see only what they
may decide. A place that reaches them shows its whole card to them anyway.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from hitl_core.errors import Refused
from hitl_core.model import Call, Grant, Place

from ..people import Directory
from .reply import PermittedSnapshot

#: Raises Refused if the person may not decide by these grants; otherwise the snapshot with this check.
Check = Callable[[PermittedSnapshot, tuple[Grant, ...]], Awaitable[PermittedSnapshot]]


async def hide_others(
    snapshot: PermittedSnapshot, place: Place, check: Check, directory: Directory
) -> PermittedSnapshot:
    """The review as the person may see it at this place. If a look-up fails, an action is hidden."""
    review = snapshot.review
    here = [call for call in review.calls if place in review.places_of(call)]

    def hidden_calls() -> list[Call]:
        return [call for call in here if not snapshot.permits(review.grants_of(call))]

    if not hidden_calls() or await directory.is_reached(snapshot.who, snapshot, place):
        return snapshot
    for grants in dict.fromkeys(review.grants_of(call) for call in hidden_calls()):
        try:
            snapshot = await check(snapshot, grants)
        except Refused:
            continue
    keys = {call.key for call in hidden_calls()}
    # The calls stay: whether one of them hides values decides what is shown of the others.
    actions = tuple(action for action in review.actions if action.key not in keys)
    runs = {key: run for key, run in review.runs.items() if key not in keys}
    return replace(snapshot, review=review.model_copy(update={"actions": actions, "runs": runs}))
