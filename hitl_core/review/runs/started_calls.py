"""The calls that this process has started. If the store lost writes, it may no longer know some of them."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

from hitl_core.model import Review
from hitl_core.review.runs import claims
from hitl_core.store import Store

#: Of how many reviews a process remembers which calls it has started.
MAX_STARTED = 10_000


class _Started(NamedTuple):
    """The started calls of one review: the attempts by the calls' keys, and the time of the last start."""

    attempts: dict[str, int]
    at: float


class StartedCalls:
    """Remembers started calls in this process, once for each store (`started_calls_of`).

    After the store lost a review, the same turn may be submitted and approved again, although its calls have
    run already. `retention`, in seconds, is how long done reviews are kept: after that, another turn of the
    thread may have the id of a deleted review.
    """

    def __init__(self, retention: float) -> None:
        self._retention = retention
        self._started: dict[str, _Started] = {}
        #: The store's history (`History.history`) for which these calls were marked on the held reviews.
        self.noted_history = ""

    def add(self, review: Review, key: str) -> bool:
        """Note that this call is started. False if this attempt of it was noted before."""
        run, attempts = review.runs[key], self._attempts(review)
        last = attempts.get(key, 0)
        self._started.pop(review.id, None)  # the last started one is the last here
        self._started[review.id] = _Started({**attempts, key: max(last, run.attempt)}, run.at)
        if len(self._started) > MAX_STARTED:
            del self._started[next(iter(self._started))]
        return last < run.attempt

    def review_ids(self) -> list[str]:
        """The reviews of these calls, the last started one first, because it is the most likely to be
        lost.
        """
        return list(reversed(self._started))

    def has(self, review_id: str) -> bool:
        return review_id in self._started

    def find_unrecorded(self, review: Review) -> list[str]:
        """The keys of the calls that this process has started, in an attempt that the review doesn't know."""
        attempts = self._attempts(review)
        return [
            call.key
            for call in review.calls
            if claims.last_attempt(review, call.key) < attempts.get(call.key, 0)
        ]

    def _attempts(self, review: Review) -> dict[str, int]:
        """The attempts of this review, not those of a deleted review that had the same id."""
        started = self._started.get(review.id)
        if started is None or review.created_at >= started.at + self._retention:
            return {}
        return started.attempts


_by_store: WeakKeyDictionary[Store, StartedCalls] = WeakKeyDictionary()


def started_calls_of(store: Store) -> StartedCalls:
    """The started calls of this process at this store. All parts of the process share them."""
    if (known := _by_store.get(store)) is None:
        known = _by_store[store] = StartedCalls(store.ledger.retention)
    return known
