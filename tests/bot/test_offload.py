"""What is read beside the event loop."""

from __future__ import annotations

import threading

from bot.offload import offload_parsing


def where(body: bytes) -> threading.Thread:
    return threading.current_thread()


async def test_a_body_of_many_values_is_read_beside_the_loop() -> None:
    """Given 42 KiB with 20,000 values, which took 30 ms on the loop; a click's body stays on it."""
    here = threading.current_thread()
    assert await offload_parsing(b"[" + b"[]," * 14_000 + b"[]]", where) is not here
    assert await offload_parsing(b"x" * 10_000, where) is here
