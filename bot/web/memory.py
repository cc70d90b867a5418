"""Returns the memory of requests to the system, so that a flood of requests leaves nothing behind."""

from __future__ import annotations

import ctypes
import gc

#: aiohttp keeps errors about heads in reference cycles. After this many bytes of heads the cycles are
#: collected.
GC_THRESHOLD = 8 * 1024 * 1024
#: After heads, bodies and answers of this many bytes, freed memory is returned to the system.
RETURNED = 16 * 1024 * 1024

_libc = ctypes.CDLL(None)


class UsedMemory:
    def __init__(self) -> None:
        self._heads = 0
        self._freed = 0

    def count_head(self, size: int) -> None:
        """A part of a head arrived."""
        self._heads += size
        if self._heads > GC_THRESHOLD:
            self._heads = 0
            gc.collect()

    def count_freed(self, size: int) -> None:
        """This many bytes of heads, bodies or answers are no longer needed."""
        self._freed += size

    def return_freed(self) -> None:
        """Return the freed memory, if there is enough. Call it about once a second."""
        if self._freed > RETURNED:
            self._freed = 0
            give_back()


def give_back() -> None:
    """Collects reference cycles, and returns glibc's freed memory to the system; other C libraries do that
    themselves. It takes about ten milliseconds after 100 MB of requests.

    Bodies arrive in thousands of small parts with other objects between them, so glibc alone returns little:
    without this a bot keeps twice its memory after a flood.
    """
    gc.collect()
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)
