"""Returns freed memory to the system."""

from __future__ import annotations

import ctypes
import gc

_libc = ctypes.CDLL(None)


def give_back() -> None:
    """Collects reference cycles, and returns glibc's freed memory to the system; other C libraries do that
    themselves. It takes about ten milliseconds after 100 MB of requests.

    Bodies arrive in thousands of small parts with other objects between them, so glibc alone returns little:
    without this a bot keeps twice its memory after a flood.
    """
    gc.collect()
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)
