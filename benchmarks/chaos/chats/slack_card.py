"""A card in the local Slack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.chaos.chats.chat import Element
from slack_sandbox.client import read_text
from slack_sandbox.workspace import Channel, Message


class Button(NamedTuple):
    """A button, and the id of its block."""

    block_id: str
    json: dict[str, Any]


@dataclass(frozen=True, eq=False)
class SlackCard:
    message: Message
    channels: Mapping[str, Channel]

    @property
    def id(self) -> str:
        return self.message.ts

    @property
    def review(self) -> str:
        assert self.message.metadata is not None
        return str(self.message.metadata["event_payload"]["review_id"])

    @property
    def channel(self) -> str:
        return self.message.channel

    @property
    def exists(self) -> bool:
        message = self.message
        return not message.deleted and message.ts in self.channels[message.channel].messages

    @property
    def drawing(self) -> object:
        return self.message.blocks

    def text(self) -> str:
        return " ".join(read_text(self.message.blocks).split())

    def elements(self, user: str = "") -> list[Element]:
        """The same for everybody. Each option of a menu counts as a button, too."""
        found: list[Element] = []
        for block in self.message.blocks:
            if block["type"] == "actions":
                for one in block["elements"]:
                    parts = [part for part in one.get("options") or [one] if "value" in part]
                    found += [
                        Element(str(part["value"]), Button(block["block_id"], part))
                        for part in parts
                    ]
        return found
