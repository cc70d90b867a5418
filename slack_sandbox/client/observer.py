"""A client for scripts and tests: reads what a person sees, and what the bot did."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp

from ..json_checks import Json, is_list, is_object
from .locators import ScriptError

T = TypeVar("T")
DEFAULT_USER = "U0ALICE"


class Observer:
    """`user` is always the id of the person who reads."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def state(self, user: str = DEFAULT_USER) -> Json:
        """All that this person sees: messages, notices, open views."""
        return await self._get(f"/sandbox/state?user={user}")

    async def messages(self, channel: str, user: str = DEFAULT_USER) -> list[Json]:
        """The messages and replies of a channel, oldest first."""
        return (await self.state(user))["messages"].get(channel, [])

    async def replies(self, channel: str, ts: str, user: str = DEFAULT_USER) -> list[Json]:
        """The replies in the thread of this message, oldest first."""
        messages = await self.messages(channel, user)
        return [one for one in messages if one["thread_ts"] == ts and one["ts"] != ts]

    async def file_text(self, user: str, file_id: str) -> str:
        """The text of a file, if this person can see a message that it is attached to."""
        async with self._open_session.get(f"{self._url}/files/{file_id}?user={user}") as response:
            if response.status != 200:
                raise ScriptError(f"{file_id}: {response.status} {await response.text()}")
            return await response.text()

    async def ephemerals(self, user: str) -> list[Json]:
        """The notices that only this person sees."""
        return (await self.state(user))["ephemerals"]

    async def view(self, user: str) -> Json | None:
        """The modal that this person sees, or None."""
        views = (await self.state(user))["views"]
        return views[-1] if views else None

    async def home(self, user: str) -> Json | None:
        """The Home tab that was published for this person, or None."""
        return (await self.state(user))["home"]

    async def notifications(self, user: str) -> list[Json]:
        """The messages that notified this person, oldest first: channel, ts, why (`mention`, `group`,
        `channel`, `dm`)."""
        return await self._get(f"/sandbox/notifications?user={user}")

    async def calls(self, method: str | None = None) -> list[Json]:
        """The Web API calls that the bot made, oldest first: method, at, args, error."""
        calls = await self._get("/sandbox/calls")
        return [call for call in calls if method in (None, call["method"])]

    async def deliveries(self) -> list[Json]:
        """The requests that the bot got, oldest first: at, body, headers, status, answer."""
        return await self._get("/sandbox/deliveries")

    async def wait_for(
        self, predicate: Callable[[Json], T], *, user: str = DEFAULT_USER, timeout: float = 60.0
    ) -> T:
        """The first truthy result of `predicate(state)`, which is called after every change.
        Raises TimeoutError with the last state."""
        last_state: Json = {}
        try:
            async with (
                asyncio.timeout(timeout),
                self._open_session.get(
                    f"{self._url}/sandbox/stream?user={user}",
                    timeout=aiohttp.ClientTimeout(total=None),
                    read_bufsize=2**24,
                ) as stream,
            ):
                async for line in stream.content:
                    if line.startswith(b"data: "):
                        last_state = json.loads(line.removeprefix(b"data: "))
                        result = predicate(last_state)
                        if result:
                            return result
        except TimeoutError:
            raise TimeoutError(
                f"not seen within {timeout} s; the last state: {last_state}"
            ) from None
        raise ScriptError("the sandbox ended the stream")

    @property
    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise ScriptError(f"use `async with {type(self).__name__}(url)`")
        return self._session

    async def _get(self, path: str) -> Any:
        async with self._open_session.get(self._url + path) as response:
            response.raise_for_status()
            return await response.json()


def read_text(blocks: object) -> str:
    """All text that a person sees in these blocks, in order. People are shown as their ids."""
    if is_list(blocks):
        return " ".join(filter(None, map(read_text, blocks)))
    if not is_object(blocks):
        return ""
    match blocks:
        case {"type": "user", "user_id": str(user)}:
            return user
        case {"text": str(text)}:
            return text
        case _:
            return read_text(list(blocks.values()))
