"""Hands for scripts and tests: see, click, fill in and submit in a sandbox, as a person would.

async with Hands("http://127.0.0.1:3001") as hands:
    card = await hands.wait_for(lambda state: state["messages"]["C0APPROVE"])
    await hands.click("U0ALICE", "C0APPROVE", card[0]["ts"], "approve")
"""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import urlencode

from bot.sandbox.eyes import Eyes
from bot.sandbox.payloads import sign
from bot.sandbox.pointing import HandsError, chosen_options, element_meant, typed_state
from bot.sandbox.shapes import Json

__all__ = ["Hands", "HandsError", "sign"]

Chosen = int | str | list[int] | list[str]


class Hands(Eyes):
    """`user` is always the id of the person who looks or acts. Answers are those of the sandbox:
    `{"ok": True}`, or `{"ok": False}` with `error` (a sentence) or `errors` (by block_id).

    `option` is an index or a label, or a list of them. `confirm` is what the person answers where an
    element asks first (its `confirm` object), which needs an answer: True goes on, and False sends
    nothing, and the answer is `{"ok": True, "cancelled": True}`."""

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
        option: Chosen | None = None,
        confirm: bool | None = None,
        team: str | None = None,
    ) -> Json:
        """Clicks an element of a message or of a notice (whose id is its ts). `value` forges the
        button's value; `team` plays a stranger of that team."""
        state = await self.state(user)
        shown = [*state["messages"].get(channel, []), *state["ephemerals"]]
        found = next((one for one in shown if one["ts"] == ts), None)
        if found is None:
            raise HandsError(f"{user} sees no message {ts} in {channel}")
        block, element = element_meant(found["blocks"], action_id, block_id, value_startswith)
        wish = {"user": user, "channel": channel, "ts": ts, "team": team, "value": value}
        return await self._press(wish, block, element, option, confirm)

    async def click_view(
        self,
        user: str,
        action_id: str,
        *,
        block_id: str | None = None,
        value_startswith: str | None = None,
        option: Chosen | None = None,
        values: dict[str, Any] | None = None,
        confirm: bool | None = None,
        home: bool = False,
    ) -> Json:
        """Clicks an element of the modal on top, or of the Home tab, with `values` typed before, as in
        `submit`. An input with `dispatch_action` sends what `values` or `option` puts into it."""
        view = await self.home(user) if home else await self._open(user)
        if view is None:
            raise HandsError(f"nothing was published in the Home tab of {user}")
        block, element = element_meant(view["blocks"], action_id, block_id, value_startswith)
        typed = typed_state(view["blocks"], values or {})
        wish = {"user": user, "view_id": view["id"], "state": typed}
        return await self._press(wish, block, element, option, confirm)

    async def submit(
        self, user: str, values: dict[str, Any] | None = None, *, view_id: str | None = None
    ) -> Json:
        """Fills in the modal on top and submits it. `values` maps a block's id, its label, or a
        part of its id that no other has, to what is entered: text or a number; for menus an index
        or a label, for checkboxes a list of them; None clears. The rest stays as it is."""
        view = await self._open(user, view_id)
        typed = typed_state(view["blocks"], values or {})
        return await self.post("submit", {"user": user, "view_id": view["id"], "values": typed})

    async def close(self, user: str) -> Json:
        """Closes the modal on top."""
        view = await self._open(user)
        return await self.post("close", {"user": user, "view_id": view["id"]})

    async def open_home(self, user: str) -> Json:
        """Enters the Home tab of the app."""
        return await self.post("home", {"user": user})

    async def dismiss(self, user: str, notice: str) -> Json:
        return await self.post("dismiss", {"user": user, "id": notice})

    async def say(
        self, user: str, channel: str, text: str, *, thread_ts: str | None = None
    ) -> Json:
        wish = {"user": user, "channel": channel, "text": text, "thread_ts": thread_ts}
        return await self.post("say", wish)

    async def command(self, user: str, channel: str, text: str) -> Json:
        """Sends a slash command: `/approvals show 7`."""
        return await self.post("command", {"user": user, "channel": channel, "text": text})

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
        option: Chosen | None,
        confirm: bool | None,
    ) -> Json:
        asks = "confirm" in element
        if asks != (confirm is not None):
            does = "asks first: say confirm=True or confirm=False" if asks else "asks nothing"
            raise HandsError(f"{element['action_id']} {does}")
        if confirm is False:
            return {"ok": True, "cancelled": True}
        wish |= {"block_id": block["block_id"], "action_id": element["action_id"]}
        wish |= {"confirmed": asks, "option": chosen_options(element, option)}
        return await self.post("click", wish)
