"""The calls that this process has started. When the store lost writes, this memory may know more than it."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from hitl_core.model import Review
from hitl_core.review import claims
from hitl_core.store import Store

#: Of how many reviews a process remembers which calls it has started.
MAX_STARTED = 10_000


class StartedCalls:
    """All who use one store share it, see `started_calls_of`. After the store lost a review, the same turn
    may be submitted and approved again: then its calls have run already.
    """

    def __init__(self) -> None:
        self._attempts: dict[str, dict[str, int]] = {}
        #: The store's history (`History.history`) whose held reviews have the marks of these calls.
        self.noted_history = ""

    def add(self, review: Review, key: str) -> bool:
        """Note that this call is started. False if this attempt of it was noted before."""
        attempt = review.runs[key].attempt
        attempts = self._attempts.pop(review.id, {})
        self._attempts[review.id] = attempts
        if attempts.get(key, 0) >= attempt:
            return False
        attempts[key] = attempt
        if len(self._attempts) > MAX_STARTED:
            del self._attempts[next(iter(self._attempts))]
        return True

    def review_ids(self) -> list[str]:
        """The reviews of these calls, the last started one first: those are the most likely to be lost."""
        return list(reversed(self._attempts))

    def has(self, review_id: str) -> bool:
        return review_id in self._attempts

    def ahead_of(self, review: Review) -> list[str]:
        """The keys of the calls of which this process has started an attempt that the review doesn't know."""
        attempts = self._attempts.get(review.id, {})
        return [
            call.key
            for call in review.calls
            if claims.last_attempt(review, call.key) < attempts.get(call.key, 0)
        ]


_by_store: WeakKeyDictionary[Store, StartedCalls] = WeakKeyDictionary()


def started_calls_of(store: Store) -> StartedCalls:
    """What this process has started at this store, whichever part of it did."""
    return _by_store.setdefault(store, StartedCalls())
