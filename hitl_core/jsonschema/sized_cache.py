"""A cache with a limit on the total size of its values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SizedCache(Generic[K, V]):
    """A least-recently-used cache whose values have at most the weight `most` together. A limit on the number
    of entries is not enough, because an agent chooses the size of each one.
    """

    def __init__(self, most: int, weigh: Callable[[V], int]) -> None:
        self._most, self._weigh, self._weight = most, weigh, 0
        self._values = OrderedDict[K, V]()
        self._lock = Lock()  # forms are also built in threads

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The cached value, or the result of `make`, which is then cached. An exception of `make` is not
        cached.
        """
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
