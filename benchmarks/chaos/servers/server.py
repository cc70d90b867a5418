"""What a run needs from its Redis, single or replicated."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from typing import Protocol


class Server(Protocol):
    """`url` reaches it directly. `address` is what a proxy connects to, and `url_through` is the URL for a
    proxy at this port. Clients of several servers get the servers' own addresses, so they use no proxy.
    """

    @property
    def url(self) -> str: ...
    @property
    def address(self) -> tuple[str, int]: ...
    def url_through(self, port: int) -> str: ...
    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def crash(self) -> None:
        """Kills a server that accepts writes (kill -9), and starts it again with the same files."""
        ...

    async def freeze(self, seconds: float) -> None: ...
    async def freeze_all(self, seconds: float) -> None:
        """Stops all servers, also those that would take over."""
        ...

    async def count(self, keys: list[str]) -> int:
        """The total number of fields in these hashes."""
        ...

    async def memory(self) -> float:
        """The most memory that one of the servers used, in MB."""
        ...


async def freeze_processes(pids: Sequence[int | None], seconds: float) -> None:
    """Stop these processes and let them go on. None: it is down."""
    running = [pid for pid in pids if pid is not None]
    for pid in running:
        os.kill(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        for pid in running:
            os.kill(pid, signal.SIGCONT)
