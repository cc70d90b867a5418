"""The people of `hitl demo --check`: they read the message and press its buttons.

Their clicks and submissions reach the bot over HTTP, signed as Slack signs them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ...client import Actor, ScriptError
from ..services import APPROVALS
from .form_values import form_values, inputs_by_pointer, missing_fields
from .turns import PlannedDecision, Turn

#: The local Slack's error for a button that is gone because its message was updated.
_GONE = "This button is no longer there."

REVIEWERS = {"U0ALICE": "Alice", "U0BOB": "Bob"}
VERBS = {"approve": "approves", "edit": "edits and approves", "reject": "rejects"}

Message = dict[str, Any]
Block = dict[str, Any]

#: The form's error for an edit that removes something.
CONFIRM = "Send the form again to confirm."
#: The button of an action that the card does not show completely.
READ_LABEL = "Read all, then approve"


class CheckFailed(Exception):
    """A step of the check failed. The text says what was wrong."""


class DemoReviewers:
    """Alice and Bob decide in turn."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._seen: set[str] = set()
        self._decisions = 0

    async def wait_for_message(self) -> Message:
        """The next review's message."""

        def new_cards(state: Mapping[str, Any]) -> list[Message]:
            cards = [m for m in state["messages"][APPROVALS] if m["bot"] and not _is_reply(m)]
            return [card for card in cards if card["ts"] not in self._seen]

        try:
            (message, *_) = await self._actor.wait_for(new_cards, timeout=30)
        except TimeoutError as error:
            raise CheckFailed("no message came to #agent-approvals within 30 s") from error
        self._seen.add(message["ts"])
        return message

    async def decide(
        self, message: Message, turn: Turn, call_id: str, plan: PlannedDecision
    ) -> str:
        """Decide this call as planned. Returns a sentence about it."""
        user, name = list(REVIEWERS.items())[self._decisions % 2]
        self._decisions += 1
        key = next(str(n) for n, call in enumerate(turn.calls, start=1) if call.id == call_id)
        call = turn.calls[int(key) - 1]
        sentence = f"{name} {VERBS.get(plan.type, plan.type + 's')} {call.name}"
        await self._press(user, message, key, plan)
        if plan.type == "edit":
            wanted = plan.args or {}
            refusal = await self._fill(user, call.args, call.args)
            if not refusal:
                raise CheckFailed(f"{sentence}, and an unchanged form was accepted")
            sentence += f" (an unchanged form is refused: {refusal})"
            await self._actor.close(user)
            await self._press(user, message, key, plan)
            refusal = await self._fill(user, call.args, wanted)
            if CONFIRM in refusal:
                view = await self._view(user)
                refusal = await self._submit(user, form_values(view, dict(call.args), wanted))
        elif plan.type in ("reject", "respond"):
            refusal = await self._submit(user, {"message": plan.message})
        else:
            refusal = ""
        if refusal:
            raise CheckFailed(f"the form was refused: {refusal}")
        while await self._actor.view(user):
            await self._actor.close(user)  # the Review modal, which shows the next action
        return sentence + (f": “{plan.message}”" if plan.message else "")

    async def wait_final_text(self, turn: Turn, executed: list[dict[str, Any]]) -> str:
        """The message's text when everything is decided and all results are shown."""
        ts = max(self._seen)

        def final_text(state: Mapping[str, Any]) -> str:
            (message,) = [m for m in state["messages"][APPROVALS] if m["ts"] == ts]
            blocks = message["blocks"]
            reviewed = sum(call["id"] in turn.decisions for call in executed)
            is_open = any(map(_asks_for_decisions, blocks))
            came = _count_results(json.dumps(blocks)) == reviewed
            return message["text"] if came and not is_open else ""

        try:
            return str(await self._actor.wait_for(final_text, timeout=30))
        except TimeoutError as error:
            raise CheckFailed("the message doesn't show the results of the calls") from error

    async def _press(self, user: str, message: Message, key: str, plan: PlannedDecision) -> None:
        """Presses the button on the card, or in the Review modal if the card only lists the actions."""
        block_id = f"do:{key}:1"
        blocks = await self._wait_for_buttons(message, block_id)
        if block := _block(blocks, block_id):
            how = _click_args(block, plan)
            pressed = self._actor.click(user, APPROVALS, message["ts"], block_id=block_id, **how)
        elif (page := await self._open_page_with(user, message, block_id)) is None:
            await self._press(user, message, key, plan)
            return
        else:
            how = _click_args(page, plan)
            pressed = self._actor.click_view(user, block_id=block_id, **how)
        answer = await pressed
        if not answer["ok"]:
            raise CheckFailed(f"pressing {how['action_id']} failed: {answer['error']}")
        if not await self._read_all(user):
            return
        # The person approves on the page on which they read all of it.
        if how["action_id"] == "see":
            [block] = [b for b in (await self._view(user))["blocks"] if _has_button([b], "approve")]
            answer = await self._actor.click_view(user, **_click_args(block, plan))
            if not answer["ok"]:
                raise CheckFailed(f"pressing Approve failed: {answer['error']}")
        else:
            await self._actor.close(user)
            await self._press(user, message, key, plan)

    async def _read_all(self, user: str) -> bool:
        """If the full text opened first (`must_read`), reads it to its end. Returns whether it did."""
        view = await self._actor.view(user)
        if not view or view["callback_id"] != "see":
            return False
        while _has_button((await self._view(user))["blocks"], "see_page:next"):
            await self._actor.click_view(user, "see_page:next")
        return True

    async def _wait_for_buttons(self, message: Message, block_id: str) -> list[Block]:
        """The card's blocks, when they have the buttons of this action or the Review button."""

        def find_blocks(state: Mapping[str, Any]) -> list[Block]:
            (now,) = [m for m in state["messages"][APPROVALS] if m["ts"] == message["ts"]]
            has_buttons = _block(now["blocks"], block_id) or _has_button(now["blocks"], "review")
            return now["blocks"] if has_buttons else []

        try:
            return await self._actor.wait_for(find_blocks, timeout=30)
        except TimeoutError as error:
            raise CheckFailed(f"the message has no buttons {block_id}") from error

    async def _open_page_with(self, user: str, message: Message, block_id: str) -> Block | None:
        """Opens the Review modal, and goes to the page of this action. None if the card was updated meanwhile
        and has no Review button any more.
        """
        if not await self._actor.view(user):
            try:
                answer = await self._actor.click(user, APPROVALS, message["ts"], "review")
            except ScriptError:
                return None
            if answer.get("error") == _GONE:
                return None
        while not (block := _block((view := await self._view(user))["blocks"], block_id)):
            if not _has_button(view["blocks"], "review_page:next"):
                raise CheckFailed(f"no page of the Review modal has the buttons {block_id}")
            await self._actor.click_view(user, "review_page:next")
        return block

    async def _view(self, user: str) -> dict[str, Any]:
        view = await self._actor.view(user)
        if view is None:
            notices = await self._actor.ephemerals(user)
            raise CheckFailed(
                f"no form opened: {notices[-1]['text'] if notices else 'there was no notice'}"
            )
        return view

    async def _fill(self, user: str, current: Mapping[str, Any], wanted: dict[str, Any]) -> str:
        """Fill in page after page. Returns "" if the form was accepted, else its errors."""
        all_pointers: set[str] = set()
        while True:
            view = await self._view(user)
            all_pointers |= inputs_by_pointer(view).keys()
            is_last = view["submit"]["text"] != "Next"
            if is_last and (missing := missing_fields(all_pointers, dict(current), wanted)):
                raise CheckFailed(f"the form has no field for {', '.join(missing)}")
            refusal = await self._submit(user, form_values(view, dict(current), wanted))
            if is_last or not refusal:
                return refusal

    async def _submit(self, user: str, values: dict[str, Any]) -> str:
        """Returns "" if it was accepted, else the form's errors or the text that it shows next."""
        view = await self._view(user)
        answer = await self._actor.submit(user, values)
        if not answer["ok"]:
            return "; ".join(answer.get("errors", {}).values()) or str(answer.get("error"))
        now = await self._actor.view(user)
        return _problem_text(now["blocks"]) if now and now["id"] == view["id"] else ""


def _count_results(shown: str) -> int:
    """How many results a card shows. A group of alike results is shown once, with a count."""
    alike = map(int, re.findall(r"and (\d+) like it", shown))
    return shown.count("recorded") + sum(alike)


def _is_reply(message: Message) -> bool:
    return message["thread_ts"] not in (None, message["ts"])


def _block(blocks: list[Block], block_id: str) -> Block | None:
    return next((block for block in blocks if block["block_id"] == block_id), None)


def _asks_for_decisions(block: Block) -> bool:
    """Whether it has the buttons of an action, or the primary button that opens the Review modal."""
    return block["block_id"].startswith("do:") or any(
        element.get("action_id") == "review" and element.get("style") == "primary"
        for element in block.get("elements", [])
    )


def _problem_text(blocks: list[Block]) -> str:
    """The error at the top of a form that stays open."""
    alerts = [block["text"]["text"] for block in blocks if block["type"] == "alert"]
    return alerts[0] if alerts else json.dumps(blocks)


def _has_button(blocks: list[Block], action_id: str) -> bool:
    elements = [element for block in blocks for element in block.get("elements", [])]
    return any(element.get("action_id") == action_id for element in elements)


def _click_args(block: Block, plan: PlannedDecision) -> dict[str, Any]:
    """The element for this decision, as arguments of `Actor.click`. Rare ones are in the overflow menu."""
    for element in block["elements"]:
        asks = {"confirm": True} if "confirm" in element else {}
        reads_first = element.get("text", {}).get("text") == READ_LABEL
        if element["action_id"] == plan.type or (plan.type == "approve" and reads_first):
            return {"action_id": element["action_id"], **asks}
        for index, option in enumerate(element.get("options", [])):
            if option["value"].startswith(f"{plan.type}."):
                return {"action_id": "more", "option": index, **asks}
    raise CheckFailed(f"the policy doesn't offer {plan.type!r} here")
