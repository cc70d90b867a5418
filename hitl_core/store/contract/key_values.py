"""How processes share work: locks, heartbeats, and the slots of a service that limits its calls."""

from __future__ import annotations

from typing import Protocol


class Coordination(Protocol):
    """Everything here ends by itself."""

    async def try_lock(self, name: str, ttl: float) -> bool:
        """True for one caller within `ttl` seconds: for work that one replica does for all. If the reply is
        lost, nobody has the lock until it ends.
        """
        ...

    async def send_heartbeat(self, process: str, ttl: float) -> None:
        """Mark this process as alive for `ttl` seconds."""
        ...

    async def is_alive(self, process: str) -> bool: ...

    async def take_slot(self, name: str, every: float, burst: int = 1) -> float:
        """Take one call to a rate-limited service that all bots share: one slot every `every` seconds, of
        which up to `burst` can be used at once. Returns 0 if the caller may call now, else in how many
        seconds to ask again: then it has taken nothing.
        """
        ...

    async def pause_slots(self, name: str, seconds: float) -> None:
        """No new slot within the next `seconds`, because the service asked for a pause."""
        ...
