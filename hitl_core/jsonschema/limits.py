"""Limits of work and memory for schemas and arguments from outside.

Work is counted in steps, not in seconds, so that the same input has the same result on every machine.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: One step takes about half a microsecond; a step of a form takes longer. These are the limits for reading
#: one schema (the largest real one in the tests' data takes 16,000), for checking one value, and for building
#: one form:
SCHEMA_STEPS = 40_000
VALUE_STEPS = 60_000
FORM_STEPS = 40_000
#: For all schemas of one request together.
REQUEST_STEPS = 6 * SCHEMA_STEPS
#: For finding the values that are hidden, in all calls of one submission; a step takes some microseconds.
HIDING_STEPS = 30_000
#: For all checks of one run's context, over all calls of a turn.
CONTEXT_STEPS = VALUE_STEPS // 2
#: For reading one pattern.
PATTERN_STEPS = 20_000
MAX_DEPTH = 100  # nested parts of a schema, and references followed inside each other


class TooMuchWork(Exception):
    """The message says what is too large, too deep or too slow to be checked."""


class TextTooLong(TooMuchWork):
    """A text that is too long for its pattern or format. The message follows the field's name."""


class Budget:
    """The steps that are left. Pass the same budget to all work that shares one limit."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Raises TooMuchWork if fewer steps are left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork("the arguments and their schema are too large to be checked")


class SizedCache(Generic[K, V]):
    """A least-recently-used cache. The weights of its values add up to at most `most`. A limit on the number
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
