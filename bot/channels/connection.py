"""How the bot connects to a chat system: the interface of every channel's wiring."""

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
    """The parts of the bot that a connection uses. `leaving` is set when the bot is about to stop."""

    inbox: Inbox
    homes: HomeLoader
    channels: Channels
    directory: Directory
    leaving: asyncio.Event


class Endpoint(NamedTuple):
    """Where a chat system sends what people do: a path of the bot's server, or "" if it comes another way.
    Each of `checks` raises HitlError while nothing can arrive; then `/readyz` fails.
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
        """While the block runs, passes what people do to the inbox. The server starts after it began."""
        ...
