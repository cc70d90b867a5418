"""What was computed lately, within a bound on all of it together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps values up to `most` of weight in all, and forgets those first that were used the longest time
    ago. A number of entries alone would bound nothing where somebody else chooses how large each of them is.
    """

    def __init__(self, most: int, weigh: Callable[[V], int]) -> None:
        self._most, self._weigh, self._weight = most, weigh, 0
        self._values = OrderedDict[K, V]()
        self._lock = Lock()  # forms are drawn in threads as well

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value that is kept, else the one that this makes. What it raises is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._weight += self._weigh(value)
            while self._weight > self._most:
                _, old = self._values.popitem(last=False)
                self._weight -= self._weigh(old)
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._weight = 0
