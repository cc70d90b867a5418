"""The cards as people see them: the messages in the local Slack, by review."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.chaos.plan import CHANNELS, PEOPLE, REQUESTERS, channel_id
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.workspace import Channel, Message

#: The seconds between two searches for new messages.
EVERY = 0.2


class Element(NamedTuple):
    """A button of a message."""

    block_id: str
    button: dict[str, Any]

    @property
    def verb(self) -> str:
        return str(self.button["value"]).split(".")[0]

    @property
    def action(self) -> str:
        """The number of its action in the review; several numbers for a button of the whole card."""
        return str(self.button["value"]).split(".")[2]

    @property
    def revision(self) -> int | None:
        """The revision of its action, or the attempt of a call in doubt; None for a button of
        the whole card.
        """
        part = str(self.button["value"]).split(".")[3:4]
        return int(part[0]) if part and part[0] else None


class Board:
    """Only `follow` and `look` search the channels. A message that they have found is kept, and read from
    there.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._cards: dict[str, list[Message]] = {}
        self._newest: dict[str, str] = {}
        members = [*PEOPLE, *REQUESTERS, sandbox.app.user_id]
        for number in range(CHANNELS):
            id = channel_id(number)
            sandbox.workspace.channels[id] = Channel(id, f"chaos-{number}", members)

    @property
    def channels(self) -> Iterator[Channel]:
        for number in range(CHANNELS):
            yield self.sandbox.workspace.channels[channel_id(number)]

    async def follow(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(EVERY)

    def look(self) -> None:
        for channel in self.channels:
            newest, known = "", self._newest.get(channel.id, "")
            for message in reversed(channel.messages.values()):
                newest = newest or message.ts
                if message.ts == known:
                    break
                if message.metadata:
                    id = message.metadata["event_payload"]["review_id"]
                    self._cards.setdefault(id, []).append(message)
            self._newest[channel.id] = newest

    def cards(self, review_id: str) -> list[Message]:
        """The review's messages that still exist, in the order in which they were found."""
        channels = self.sandbox.workspace.channels
        return [
            message
            for message in self._cards.get(review_id, ())
            if not message.deleted and message.ts in channels[message.channel].messages
        ]

    def card(self, review_id: str, channel: str) -> Message | None:
        return next((one for one in self.cards(review_id) if one.channel == channel), None)

    def all_cards(self) -> Iterator[Message]:
        for channel in self.channels:
            for message in channel.messages.values():
                if message.metadata and not message.deleted:
                    yield message


def elements(message: Message) -> list[Element]:
    """The buttons of the message. Each option of a menu counts as a button, too."""
    found: list[Element] = []
    for block in message.blocks:
        if block["type"] == "actions":
            for one in block["elements"]:
                each = one.get("options") or [one]
                found += [Element(block["block_id"], part) for part in each if "value" in part]
    return found


def find_element(message: Message, verb: str, action: str = "1") -> Element | None:
    return next((o for o in elements(message) if (o.verb, o.action) == (verb, action)), None)


def words(value: Any) -> str:
    """All text that a person sees in these blocks. People are shown as their ids."""
    if isinstance(value, list):
        return " ".join(filter(None, map(words, value)))
    if not isinstance(value, dict):
        return ""
    if value.get("type") == "user":
        return str(value["user_id"])
    if isinstance(text := value.get("text"), str):
        return text
    return words([part for part in value.values() if isinstance(part, dict | list)])
