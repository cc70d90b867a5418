"""The thread of each review that this process has recently seen, so that a log line can name both."""

from __future__ import annotations

from collections import OrderedDict

#: How many reviews are remembered, each with about 200 bytes.
MAX_REVIEWS = 5_000
#: A thread's id comes from outside: this many characters of it are remembered.
MAX_CHARS = 200


class RecentThreads:
    """The thread ids of the last `size` reviews that were seen."""

    def __init__(self, size: int = MAX_REVIEWS) -> None:
        self._size = size
        self._threads: OrderedDict[str, str] = OrderedDict()

    def add(self, review_id: str, thread_id: str) -> None:
        self._threads[review_id] = thread_id[:MAX_CHARS]
        self._threads.move_to_end(review_id)
        if len(self._threads) > self._size:
            self._threads.popitem(last=False)

    def find(self, review_id: str) -> str | None:
        """The thread of the review. None if this process has not seen the review, or not recently."""
        return self._threads.get(review_id)


#: The threads of this process. It is global, because logging has no other place for data of a process.
recent_threads = RecentThreads()
