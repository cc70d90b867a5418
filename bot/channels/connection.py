"""How the bot connects to a chat system: what the wiring of every channel must do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from aiohttp import web

from ..inbox import HomeLoader, Inbox
from ..outbox import PublishHome
from ..people import Directory
from .contract import Channel
from .registry import Channels


@dataclass(frozen=True)
class BotParts:
    """What a connection uses of the bot. `leaving` is set when the bot is about to stop."""

    inbox: Inbox
    homes: HomeLoader
    channels: Channels
    directory: Directory
    leaving: asyncio.Event


class Endpoint(NamedTuple):
    """Where a chat system sends what people do: a path of the bot's server, or "" if it comes by another way.
    Each of `checks` raises HitlError while nothing can arrive; `/readyz` says so.
    """

    path: str = ""
    checks: Sequence[Callable[[], None]] = ()


class Connection(Protocol):
    """One channel of a bot, ready for look-ups and messages."""

    @property
    def channel(self) -> Channel: ...

    def home_publisher(self, parts: BotParts) -> PublishHome | None:
        """Updates the Homes that people opened; None if this channel has no Homes."""
        ...

    def serve(self, app: web.Application, parts: BotParts) -> AbstractAsyncContextManager[Endpoint]:
        """While the block runs, what people do there goes to the inbox. The server starts after it began."""
        ...
