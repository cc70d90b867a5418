"""Hands for scripts and tests: see, click, fill in and submit in a sandbox, as a person would.

async with Hands("http://127.0.0.1:3001") as hands:
    card = await hands.wait_for(lambda state: state["messages"]["C0APPROVE"])
    await hands.click("U0ALICE", "C0APPROVE", card[0]["ts"], "approve")
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlencode

import aiohttp

from bot.sandbox.payloads import sign
from bot.sandbox.pointing import HandsError, element_meant, option_index, typed_state
from bot.sandbox.shapes import Json

__all__ = ["Hands", "HandsError", "sign"]

T = TypeVar("T")
WATCHER = "U0ALICE"


class Hands:
    """`user` is always the id of the person who looks or acts. Answers are those of the sandbox:
    `{"ok": True}`, or `{"ok": False}` with `error` (a sentence) or `errors` (by block_id)."""

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

    # Looking

    async def state(self, user: str = WATCHER) -> Json:
        """All that this person sees: messages, notices, open views."""
        return await self._get(f"/sandbox/state?user={user}")

    async def messages(self, channel: str, user: str = WATCHER) -> list[Json]:
        """The messages and replies of a channel, oldest first."""
        return (await self.state(user))["messages"].get(channel, [])

    async def ephemerals(self, user: str) -> list[Json]:
        """The notices that only this person sees."""
        return (await self.state(user))["ephemerals"]

    async def view(self, user: str) -> Json | None:
        """The modal that this person sees, or None."""
        views = (await self.state(user))["views"]
        return views[-1] if views else None

    async def calls(self, method: str | None = None) -> list[Json]:
        """The Web API calls that the bot made, oldest first: method, at, args, error."""
        calls = await self._get("/sandbox/calls")
        return [call for call in calls if method in (None, call["method"])]

    async def deliveries(self) -> list[Json]:
        """The requests that the bot got, oldest first: at, body, headers, status, answer."""
        return await self._get("/sandbox/deliveries")

    async def wait_for(
        self, predicate: Callable[[Json], T], *, user: str = WATCHER, timeout: float = 10.0
    ) -> T:
        """The first truthy answer of `predicate(state)`, asked again after every change.
        Raises TimeoutError with the last state that was seen."""
        seen: Json = {}
        try:
            async with (
                asyncio.timeout(timeout),
                self._live.get(
                    f"{self._url}/sandbox/stream?user={user}",
                    timeout=aiohttp.ClientTimeout(total=None),
                    read_bufsize=2**24,
                ) as stream,
            ):
                async for line in stream.content:
                    if line.startswith(b"data: "):
                        seen = json.loads(line.removeprefix(b"data: "))
                        found = predicate(seen)
                        if found:
                            return found
        except TimeoutError:
            raise TimeoutError(f"not seen within {timeout} s; the last state: {seen}") from None
        raise HandsError("the sandbox ended the stream")

    # Acting

    async def click(
        self,
        user: str,
        channel: str,
        ts: str,
        action_id: str,
        *,
        block_id: str | None = None,
        value_startswith: str | None = None,
        value: str | None = None,
        option: int | str | list[int] | None = None,
        team: str | None = None,
    ) -> Json:
        """Clicks an element of a message or of a notice (whose id is its ts). `option` is an index
        or a label; `value` forges the button's value; `team` plays a stranger of that team."""
        state = await self.state(user)
        shown = [*state["messages"].get(channel, []), *state["ephemerals"]]
        found = next((one for one in shown if one["ts"] == ts), None)
        if found is None:
            raise HandsError(f"{user} sees no message {ts} in {channel}")
        block, element = element_meant(found["blocks"], action_id, block_id, value_startswith)
        wish = {"user": user, "channel": channel, "ts": ts, "team": team}
        return await self._press(wish, block, element, value, option)

    async def click_view(
        self,
        user: str,
        action_id: str,
        *,
        block_id: str | None = None,
        option: int | str | list[int] | None = None,
        values: dict[str, Any] | None = None,
    ) -> Json:
        """Clicks an element of the modal on top, with `values` typed so far, as in `submit`."""
        view = await self._open(user)
        block, element = element_meant(view["blocks"], action_id, block_id, None)
        wish = {
            "user": user,
            "view_id": view["id"],
            "state": typed_state(view["blocks"], values or {}),
        }
        return await self._press(wish, block, element, None, option)

    async def submit(
        self, user: str, values: dict[str, Any] | None = None, *, view_id: str | None = None
    ) -> Json:
        """Fills in the modal on top and submits it. `values` maps a block's id, its label, or a
        part of its id that no other has, to what is entered: text or a number; for menus an index
        or a label, for checkboxes a list of them; None clears. The rest stays untouched."""
        view = await self._open(user, view_id)
        typed = typed_state(view["blocks"], values or {})
        return await self.post("submit", {"user": user, "view_id": view["id"], "values": typed})

    async def close(self, user: str) -> Json:
        """Closes the modal on top."""
        view = await self._open(user)
        return await self.post("close", {"user": user, "view_id": view["id"]})

    async def dismiss(self, user: str, notice: str) -> Json:
        return await self.post("dismiss", {"user": user, "id": notice})

    async def say(
        self, user: str, channel: str, text: str, *, thread_ts: str | None = None
    ) -> Json:
        wish = {"user": user, "channel": channel, "text": text, "thread_ts": thread_ts}
        return await self.post("say", wish)

    async def agent(
        self, text: str, *, channel: str | None = None, thread_ts: str | None = None
    ) -> Json:
        """Lets the demo agent say something."""
        return await self.post("agent", {"text": text, "channel": channel, "thread_ts": thread_ts})

    async def trouble(
        self,
        mode: str,
        *,
        method: str | None = None,
        times: int | None = None,
        retry_after: int = 1,
    ) -> Json:
        """Orders a fault for the bot's next calls; `times` None lasts until mode "ok". Method
        "response_url" stands for the answers to clicks."""
        wish = {"mode": mode, "method": method, "times": times, "retry_after": retry_after}
        return await self.post("trouble", wish)

    async def send(
        self,
        bot_url: str,
        payload: Json,
        secret: str,
        *,
        timestamp: int | str | None = None,
        signature: str | None = None,
    ) -> tuple[int, str]:
        """Sends the bot a payload of your own making, signed, and returns its status and body.
        Give `timestamp` or `signature` to forge them."""
        body = urlencode({"payload": json.dumps(payload)})
        at = str(int(time.time())) if timestamp is None else str(timestamp)
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": at,
            "X-Slack-Signature": sign(secret, at, body) if signature is None else signature,
        }
        return await self.raw(bot_url, body, headers)

    async def raw(self, bot_url: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
        """Sends the bot exactly this, such as an earlier delivery once more."""
        async with self._live.post(bot_url, data=body, headers=headers) as response:
            return response.status, await response.text()

    async def post(self, path: str, wish: Json) -> Json:
        """POST /sandbox/{path}; raises HandsError where the sandbox refuses the request itself."""
        async with self._live.post(f"{self._url}/sandbox/{path}", json=wish) as response:
            if response.status != 200:
                raise HandsError(f"{path}: {response.status} {await response.text()}")
            return await response.json()

    # Inside

    @property
    def _live(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise HandsError("use `async with Hands(url)`")
        return self._session

    async def _get(self, path: str) -> Any:
        async with self._live.get(self._url + path) as response:
            response.raise_for_status()
            return await response.json()

    async def _open(self, user: str, view_id: str | None = None) -> Json:
        """The modal on top, or the one with this id, which may be gone."""
        views: list[Json] = (await self.state(user))["views"]
        found = [view for view in views if view_id in (None, view["id"])]
        if not found and view_id is None:
            raise HandsError(f"{user} has no modal open")
        return found[-1] if found else {"id": view_id, "blocks": []}

    async def _press(
        self,
        wish: Json,
        block: Json,
        element: Json,
        value: str | None,
        option: int | str | list[int] | None,
    ) -> Json:
        wish |= {"block_id": block["block_id"], "action_id": element["action_id"]}
        if value is not None:
            wish["value"] = value
        if option is not None:
            wish["option"] = option_index(element, option) if isinstance(option, str) else option
        return await self.post("click", wish)
