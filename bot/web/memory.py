"""Memory that was freed, given back to the system."""

from __future__ import annotations

import ctypes
import gc

_libc = ctypes.CDLL(None)


def give_back() -> None:
    """Frees what is in cycles, and returns what glibc keeps of freed memory; elsewhere the
    system does. It takes some ten milliseconds after 100 MB of requests.

    Bodies arrive in thousands of small parts between which other things stay, so that glibc on its own gives
    back little: without this a bot keeps twice its memory after a flood.
    """
    gc.collect()
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)
