"""People and places of the sandbox, and the texts that a person sees on a card."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from slack_sandbox.client import read_text
from slack_sandbox.client.actor import Actor
from tests.support.waiting import wait_until

APPROVALS, OPS = "C0APPROVE", "C0OPS"
ALICE, BOB, MARIA = "U0ALICE", "U0BOB", "U0MARIA"  # members of #agent-approvals
CARL, DANA = "U0CARL", "U0DANA"  # members of #team-ops
STRANGER = "U0STRANGER"

Message = dict[str, Any]


def text_of(message: Message) -> str:
    return " ".join((read_text(message["blocks"]) or message["text"]).split())


def review_of(card: Message) -> str:
    return card["metadata"]["event_payload"]["review_id"]


def live(messages: list[Message]) -> list[Message]:
    """The messages of the channel itself, without those in threads."""
    return [m for m in messages if not m["deleted"] and (m["metadata"] or not _is_reply(m))]


def _is_reply(message: Message) -> bool:
    return message["thread_ts"] not in (None, message["ts"])


def buttons(message: Message, action_id: str) -> list[tuple[str, dict[str, Any]]]:
    """(block id, element) for each button of a message with this action id, in order."""
    return [
        (block["block_id"], element)
        for block in message["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
        if element["action_id"] == action_id
    ]


def options_for(message: Message, verb: str) -> list[tuple[str, dict[str, Any]]]:
    """(block id, option) for each menu option of a message with this verb."""
    return [
        (block_id, {"action_id": "more", **option})
        for block_id, menu in buttons(message, "more")
        for option in menu["options"]
        if option["value"].startswith(f"{verb}.")
    ]


class Person:
    """One person in the local Slack: `await alice.press(card, "approve", 2)`."""

    def __init__(self, actor: Actor, id: str, team: str | None = None) -> None:
        self.actor, self.id, self.team = actor, id, team

    async def press(
        self, card: Message, action_id: str, number: int = 1, *, option: str | None = None
    ) -> dict[str, Any]:
        """Presses the `number`th button with this action id that `card` showed when it was read. If there is
        no such button, chooses the option in a menu.
        """
        block_id, element = [*buttons(card, action_id), *options_for(card, action_id)][number - 1]
        if element["action_id"] != action_id:
            action_id, option = "more", element["text"]["text"]
        return await self.actor.post(
            "click",
            {
                "user": self.id,
                "channel": card["channel"],
                "ts": card["ts"],
                "team": self.team,
                "block_id": block_id,
                "action_id": action_id,
                "confirmed": "confirm" in element,
                **({} if option is None else {"option": self._index(card, block_id, option)}),
            },
        )

    async def press_until(self, done: Callable[[], bool], card: Message, action_id: str) -> None:
        """Presses again as long as the bot answers "Press again", which it does if that is safe."""

        async def is_accepted() -> bool:
            before = len(await self.notices())
            await self.press(card, action_id)
            new = (await self.notices())[before:]
            assert all("Press again" in text or "already" in text for text in new), new
            return done() or not any("Press again" in texts for texts in new)

        await wait_until(f"{action_id} counts", is_accepted, 20)

    async def submit(self, **values: Any) -> dict[str, Any]:
        """Fills in the open modal, by labels, and submits it."""
        return await self.actor.submit(self.id, values)

    async def notices(self) -> list[str]:
        """The private messages to this person, oldest first."""
        return [notice["text"] for notice in await self.actor.ephemerals(self.id)]

    async def last_notice(self) -> str:
        return (await self.notices() or [""])[-1]

    async def modal(self) -> str:
        """The text of the open modal, or "" if none is open."""
        view = await self.actor.view(self.id)
        return " ".join(read_text([view["title"], view["blocks"]]).split()) if view else ""

    @staticmethod
    def _index(card: Message, block_id: str, label: str) -> int:
        options = next(b for b in card["blocks"] if b["block_id"] == block_id)["elements"][-1]
        labels = [option["text"]["text"] for option in options["options"]]
        return labels.index(label)
