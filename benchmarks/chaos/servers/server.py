"""What a run does with a Redis, whatever it consists of."""

from __future__ import annotations

from typing import Protocol


class Server(Protocol):
    """`url` reaches it directly; `address` is where a proxy leads, and `url_through` the URL through a proxy
    at this port. Clients of several servers are told their addresses, so no proxy is between them.
    """

    @property
    def url(self) -> str: ...
    @property
    def address(self) -> tuple[str, int]: ...
    def url_through(self, port: int) -> str: ...
    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def crash(self) -> None:
        """kill -9 of a server that takes writes, and a new start on the same files."""
        ...

    async def freeze(self, seconds: float) -> None: ...
    async def count(self, keys: list[str]) -> int:
        """How many fields these hashes have together."""
        ...

    async def memory(self) -> float:
        """The most that one server used, in MB."""
        ...
