"""The people of `make demo CHECK=1`: they see what the message shows, and press what a person would press.

Their clicks and submissions reach the bot over HTTP, signed as Slack signs them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bot.sandbox.hands import Hands
from examples.demo.stage import APPROVALS
from examples.demo.turns import PlannedDecision, Turn

REVIEWERS = {"U0ALICE": "Alice", "U0BOB": "Bob"}
VERBS = {"approve": "approves", "edit": "edits and approves", "reject": "rejects"}

Message = dict[str, Any]


class CantDecide(Exception):
    """Something on the way was not as it must be; the text says what."""


class People:
    """Alice and Bob take turns."""

    def __init__(self, hands: Hands) -> None:
        self._hands = hands
        self._seen: set[str] = set()
        self._decisions = 0

    async def wait_for_message(self) -> Message:
        """The next review's message."""

        def unseen(state: Mapping[str, Any]) -> list[Message]:
            return [
                m for m in state["messages"][APPROVALS] if m["bot"] and m["ts"] not in self._seen
            ]

        try:
            (message, *_) = await self._hands.wait_for(unseen, timeout=30)
        except TimeoutError as error:
            raise CantDecide("no message came to #agent-approvals within 30 s") from error
        self._seen.add(message["ts"])
        return message

    async def decide(
        self, message: Message, turn: Turn, call_id: str, plan: PlannedDecision
    ) -> str:
        """Press what the plan says; the answer tells it in words."""
        user, name = list(REVIEWERS.items())[self._decisions % 2]
        self._decisions += 1
        key = next(str(n) for n, call in enumerate(turn.calls, start=1) if call.id == call_id)
        call = turn.calls[int(key) - 1]
        tool = call.name
        block_id = f"do:{key}:1"
        await self._wait_for_button(message, block_id)
        told = f"{name} {VERBS.get(plan.type, plan.type + 's')} {tool}"
        if plan.type in ("respond", "ignore"):
            await self._press(
                user, message, "more", block_id, option=self._menu(message, block_id, plan)
            )
        else:
            await self._press(user, message, plan.type, block_id)
        if plan.type == "edit":
            refused = await self._submit(user, {})
            if not refused:
                raise CantDecide(f"{told}, and an untouched form was taken")
            told += f" (an untouched form is refused: {refused})"
            changed = _values(await self._view(user), plan.args or {}, call.args)
            await self._must_submit(user, changed)
        elif plan.type in ("reject", "respond"):
            await self._must_submit(user, {"message": plan.message})
        return told + (f": “{plan.message}”" if plan.message else "")

    async def closing_words(self, turn: Turn, executed: list[dict[str, Any]]) -> str:
        """What the message says once everything is decided and came of it what came."""
        ts = max(self._seen)

        def closed(state: Mapping[str, Any]) -> str:
            (message,) = [m for m in state["messages"][APPROVALS] if m["ts"] == ts]
            drawn = json.dumps(message["blocks"])
            reviewed = sum(call["id"] in turn.decisions for call in executed)
            is_closed = '"type": "button"' not in drawn and drawn.count("recorded") == reviewed
            return message["text"] if is_closed else ""

        try:
            return str(await self._hands.wait_for(closed, timeout=30))
        except TimeoutError as error:
            raise CantDecide("the message doesn't show what came of the calls") from error

    async def _wait_for_button(self, message: Message, block_id: str) -> None:
        """A message shows so many actions at once; the next ones move up as these are decided."""

        def there(state: Mapping[str, Any]) -> bool:
            (now,) = [m for m in state["messages"][APPROVALS] if m["ts"] == message["ts"]]
            message["blocks"] = now["blocks"]
            return any(block["block_id"] == block_id for block in now["blocks"])

        try:
            await self._hands.wait_for(there, timeout=30)
        except TimeoutError as error:
            raise CantDecide(f"the message has no buttons {block_id}") from error

    async def _press(
        self, user: str, message: Message, action_id: str, block_id: str, **how: Any
    ) -> None:
        try:
            answer = await self._hands.click(
                user, APPROVALS, message["ts"], action_id, block_id=block_id, **how
            )
        except LookupError as error:
            raise CantDecide(f"the message has no such button: {error}") from error
        if not answer["ok"]:
            raise CantDecide(f"pressing {action_id} failed: {answer['error']}")

    async def _view(self, user: str) -> dict[str, Any]:
        view = await self._hands.view(user)
        if view is None:
            notices = await self._hands.ephemerals(user)
            raise CantDecide(
                f"no form opened: {notices[-1]['text'] if notices else 'nothing was said'}"
            )
        return view

    async def _submit(self, user: str, values: dict[str, Any]) -> str:
        """Empty where it was taken, else what the form says."""
        await self._view(user)
        answer = await self._hands.submit(user, values)
        if answer["ok"]:
            view = await self._hands.view(user)
            return "" if view is None else json.dumps(view["blocks"])
        return "; ".join(answer.get("errors", {}).values()) or str(answer.get("error"))

    async def _must_submit(self, user: str, values: dict[str, Any]) -> None:
        if refused := await self._submit(user, values):
            raise CantDecide(f"the form was refused: {refused}")

    def _menu(self, message: Message, block_id: str, plan: PlannedDecision) -> int:
        (block,) = [block for block in message["blocks"] if block["block_id"] == block_id]
        menus = [element for element in block["elements"] if element["action_id"] == "more"]
        for index, option in enumerate(menus[0]["options"] if menus else []):
            if option["value"].startswith(f"{plan.type}."):
                return index
        raise CantDecide(f"the policy doesn't offer {plan.type!r} here")


def _values(
    view: dict[str, Any], args: Mapping[str, Any], current: Mapping[str, Any]
) -> dict[str, Any]:
    """What a person types to turn the current arguments into the planned ones: only what changes."""
    values: dict[str, Any] = {}
    left = {key for key in {**args, **current} if _json(args, key) != _json(current, key)}
    for block in view["blocks"]:
        if block["type"] != "input":
            continue
        key = block["block_id"].removeprefix("f:").rpartition("#")[0].removeprefix("/")
        key = key.replace("~1", "/").replace("~0", "~")
        if not key:  # one field for the whole arguments
            return {block["block_id"]: json.dumps(args)}
        if key in left:
            left.remove(key)
            values[block["block_id"]] = _typed(block, args.get(key))
    if left:
        raise CantDecide(f"the form has no field for {', '.join(sorted(left))}")
    return values


def _json(args: Mapping[str, Any], key: str) -> str | None:
    return json.dumps(args[key], sort_keys=True) if key in args else None


def _typed(block: dict[str, Any], value: Any) -> Any:
    element = block["element"]
    if value is None:
        return None
    if element["type"] in ("static_select", "radio_buttons"):
        labels = [option["text"]["text"] for option in element["options"]]
        label = ("Yes" if value else "No") if isinstance(value, bool) else str(value)
        return labels.index(label) if label in labels else labels.index(json.dumps(value))
    return value if isinstance(value, str) and not _is_json(element) else json.dumps(value)


def _is_json(element: dict[str, Any]) -> bool:
    return str(element.get("initial_value", "")).startswith(("{", "["))
