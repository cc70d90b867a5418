"""Held reviews: the store lost writes, so people and agents may have seen a newer state than what is stored.
A person releases them. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress

from hitl_core.errors import HitlError, Refused
from hitl_core.model import Event, Review, Reviewer, Run, Snapshot
from hitl_core.review.transition import Transition, make_event

HELD_TEXT = (
    "This is held: the store lost data, so what it has of this may be out of date. Nothing can be decided,"
    " and nothing runs, until an operator releases it with `hitl reviews release`."
)

#: How many started calls a process remembers.
MAX_STARTED = 10_000
#: An agent sets the mark `ran:CALL` on a held review if it has started that call: the store may not know it.
_RAN = "ran:"


class StartedCalls:
    """The calls that this process has started. After the store lost a review, the same turn may be submitted
    and approved again: then its calls have run already.
    """

    def __init__(self) -> None:
        self._attempts: dict[tuple[str, str], int] = {}

    def add(self, review: Review, key: str) -> bool:
        """Note that this call is started. False if this attempt of it was noted before."""
        attempt = review.runs[key].attempt
        if self._attempts.get((review.id, key), 0) >= attempt:
            return False
        self._attempts.pop((review.id, key), None)
        self._attempts[review.id, key] = attempt
        if len(self._attempts) > MAX_STARTED:
            del self._attempts[next(iter(self._attempts))]
        return True


def ran_mark(key: str) -> str:
    return _RAN + key


def calls_ahead(snapshot: Snapshot) -> tuple[str, ...]:
    """The keys of the calls that an agent has started and that the review has as not started."""
    review = snapshot.review
    keys = (call.key for call in review.calls if ran_mark(call.key) in snapshot.marks)
    return tuple(key for key in keys if _is_unstarted(review, key))


def release(review: Review, by: Reviewer, ahead: Collection[str], now: float) -> Transition:
    """The review goes on as it is stored. The calls of `ahead` may have run: people are asked about them."""
    runs = {
        key: Run(state="in_doubt", attempt=_attempts(review, key) + 1, at=now)
        for key in ahead
        if _is_unstarted(review, key)
    }
    after = review.model_copy(update={"runs": {**review.runs, **runs}})
    return Transition(after, make_event("released", review, now, runs, by=by))


def is_release(event: Event) -> bool:
    """Whether a held review goes on after this event: it was released, or nothing of it can run any more."""
    return event.kind in ("released", "cancelled")


def apply_unless_held(
    apply: Callable[[Review, float], Transition], snapshot: Snapshot
) -> Transition:
    """The transition. Of a held review only one after which it goes on: else raises Refused("held")."""
    if not snapshot.held:
        return apply(snapshot.review, snapshot.now)
    with suppress(HitlError):
        changed = apply(snapshot.review, snapshot.now)
        if is_release(changed.event):
            return changed
    raise refuse_held()


def refuse_held() -> Refused:
    return Refused("held", HELD_TEXT)


def _is_unstarted(review: Review, key: str) -> bool:
    run = review.runs.get(key)
    return run is None or run.state == "cleared"


def _attempts(review: Review, key: str) -> int:
    return review.runs[key].attempt if key in review.runs else 0
