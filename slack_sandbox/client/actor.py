"""A client for scripts and tests, which does what people do: reads, clicks, fills in forms and submits them.

async with Actor("http://127.0.0.1:3001") as actor:
    card = await actor.wait_for(lambda state: state["messages"]["C0APPROVE"])
    await actor.click("U0ALICE", "C0APPROVE", card[0]["ts"], "approve")
"""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import urlencode

from ..delivery import sign
from ..json_checks import Json
from .locators import ScriptError, build_state, find_element, option_indexes
from .observer import Observer

__all__ = ["Actor", "ScriptError", "sign"]

OptionChoice = int | str | list[int] | list[str]


class Actor(Observer):
    """`user` is always the id of the person who reads or acts. Methods return the sandbox's answer:
    `{"ok": True}`, or `{"ok": False}` with `error` (a sentence) or `errors` (by block_id).

    `option` is an index or a label, or a list of them. `confirm` is the person's answer if the element
    asks for a confirmation (its `confirm` object), and must be given then: True continues; False sends
    nothing and returns `{"ok": True, "cancelled": True}`."""

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
        option: OptionChoice | None = None,
        confirm: bool | None = None,
        team: str | None = None,
    ) -> Json:
        """Clicks an element of a message or of a notice (whose id is its ts). `value` replaces the
        button's value; with `team`, the person belongs to that other workspace."""
        state = await self.state(user)
        messages = [*state["messages"].get(channel, []), *state["ephemerals"]]
        message = next((one for one in messages if one["ts"] == ts), None)
        if message is None:
            raise ScriptError(f"{user} sees no message {ts} in {channel}")
        block, element = find_element(message["blocks"], action_id, block_id, value_startswith)
        params = {"user": user, "channel": channel, "ts": ts, "team": team, "value": value}
        return await self._send_click(params, block, element, option, confirm)

    async def click_view(
        self,
        user: str,
        action_id: str,
        *,
        block_id: str | None = None,
        value_startswith: str | None = None,
        option: OptionChoice | None = None,
        values: dict[str, Any] | None = None,
        confirm: bool | None = None,
        home: bool = False,
    ) -> Json:
        """Clicks an element of the top modal, or of the Home tab. `values` are typed first, as in
        `submit`. An input with `dispatch_action` sends the value from `values` or `option`."""
        view = await self.home(user) if home else await self._find_modal(user)
        if view is None:
            raise ScriptError(f"nothing was published in the Home tab of {user}")
        block, element = find_element(view["blocks"], action_id, block_id, value_startswith)
        typed = build_state(view["blocks"], values or {})
        params = {"user": user, "view_id": view["id"], "state": typed}
        return await self._send_click(params, block, element, option, confirm)

    async def submit(
        self, user: str, values: dict[str, Any] | None = None, *, view_id: str | None = None
    ) -> Json:
        """Fills in the top modal and submits it. `values` maps a block's id, its label, or a unique part
        of its id, to the input: text or a number; an index or a label for menus, a list of them for
        checkboxes; None clears. Other inputs keep their values."""
        view = await self._find_modal(user, view_id)
        typed = build_state(view["blocks"], values or {})
        return await self.post("submit", {"user": user, "view_id": view["id"], "values": typed})

    async def close(self, user: str) -> Json:
        """Closes the top modal."""
        view = await self._find_modal(user)
        return await self.post("close", {"user": user, "view_id": view["id"]})

    async def open_home(self, user: str) -> Json:
        """Opens the Home tab of the app."""
        return await self.post("home", {"user": user})

    async def dismiss(self, user: str, notice: str) -> Json:
        return await self.post("dismiss", {"user": user, "id": notice})

    async def say(
        self, user: str, channel: str, text: str, *, thread_ts: str | None = None
    ) -> Json:
        params = {"user": user, "channel": channel, "text": text, "thread_ts": thread_ts}
        return await self.post("say", params)

    async def run_command(self, user: str, channel: str, text: str) -> Json:
        """Sends a slash command: `/approvals show 7`."""
        return await self.post("command", {"user": user, "channel": channel, "text": text})

    async def say_as_agent(self, text: str, *, thread_ts: str | None = None) -> Json:
        """Posts a message as the demo agent."""
        return await self.post("agent", {"text": text, "thread_ts": thread_ts})

    async def inject_fault(
        self,
        mode: str,
        *,
        method: str | None = None,
        times: int | None = None,
        retry_after: int = 1,
        body: str = "",
    ) -> Json:
        """Makes the bot's next calls fail; `times` None: until mode "ok". Method "response_url": the
        answers to clicks. `body`: what mode "answer" answers."""
        params = {
            "mode": mode,
            "method": method,
            "times": times,
            "retry_after": retry_after,
            "body": body,
        }
        return await self.post("fault", params)

    async def send_payload(
        self,
        bot_url: str,
        payload: Json,
        secret: str,
        *,
        timestamp: int | str | None = None,
        signature: str | None = None,
    ) -> tuple[int, str]:
        """Sends any payload to the bot, signed, and returns its status and body. `timestamp` and
        `signature` replace the right ones."""
        body = urlencode({"payload": json.dumps(payload)})
        at = str(int(time.time())) if timestamp is None else str(timestamp)
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": at,
            "X-Slack-Signature": sign(secret, at, body) if signature is None else signature,
        }
        return await self.send_raw(bot_url, body, headers)

    async def send_raw(self, bot_url: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
        """Sends exactly this to the bot, for example an earlier delivery again."""
        async with self._open_session.post(bot_url, data=body, headers=headers) as response:
            return response.status, await response.text()

    async def post(self, path: str, params: Json) -> Json:
        """POST /sandbox/{path}. Raises ScriptError if the sandbox rejects the request itself."""
        async with self._open_session.post(f"{self._url}/sandbox/{path}", json=params) as response:
            if response.status != 200:
                raise ScriptError(f"{path}: {response.status} {await response.text()}")
            return await response.json()

    async def _find_modal(self, user: str, view_id: str | None = None) -> Json:
        """The top modal, or the one with this id."""
        views: list[Json] = (await self.state(user))["views"]
        matches = [view for view in views if view_id in (None, view["id"])]
        if not matches and view_id is None:
            raise ScriptError(f"{user} has no modal open")
        return matches[-1] if matches else {"id": view_id, "blocks": []}

    async def _send_click(
        self,
        params: Json,
        block: Json,
        element: Json,
        option: OptionChoice | None,
        confirm: bool | None,
    ) -> Json:
        needs_confirm = "confirm" in element
        if needs_confirm != (confirm is not None):
            problem = (
                "asks for a confirmation: pass confirm=True or confirm=False"
                if needs_confirm
                else "asks for no confirmation"
            )
            raise ScriptError(f"{element['action_id']} {problem}")
        if confirm is False:
            return {"ok": True, "cancelled": True}
        params |= {"block_id": block["block_id"], "action_id": element["action_id"]}
        params |= {"confirmed": needs_confirm, "option": option_indexes(element, option)}
        return await self.post("click", params)
