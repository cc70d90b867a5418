"""A card in the local Teams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.chaos.chats.chat import Element
from teams_sandbox.client import read_text
from teams_sandbox.validation import elements_in
from teams_sandbox.workspace import Message, Workspace

_MARK = re.compile(r"hitl:([^:]+):")
_PERSON = re.compile(r"Crowd Member \d+")


@dataclass(frozen=True, eq=False)
class TeamsCard:
    message: Message
    workspace: Workspace

    @property
    def id(self) -> str:
        return self.message.id

    @property
    def review(self) -> str:
        return review_of(self.message)

    @property
    def channel(self) -> str:
        return self.message.conversation

    @property
    def exists(self) -> bool:
        return not self.message.deleted

    @property
    def drawing(self) -> object:
        return self.message.attachments

    def text(self) -> str:
        """Teams shows people only by their names, which are different for each of the crowd."""
        ids = {user.display_name: user.id for user in self.workspace.crowd.values()}
        read = read_text(self.message.card) if self.message.card else ""
        return " ".join(_PERSON.sub(lambda name: ids[name.group()], read).split())

    def elements(self, user: str = "") -> list[Element]:
        """Those of the card itself: none while a form is in its place."""
        actions = self.actions(user)
        return [Element(one["data"]["value"], one) for one in actions if is_press(one)]

    def page(self, user: str) -> list[Element]:
        """The buttons of the page of a digest."""
        found = [one for one in self.actions(user) if one["data"]["hitl"] == "review"]
        return [Element(one["data"]["value"].split(" ")[1], one) for one in found]

    def actions(self, user: str = "") -> list[dict[str, Any]]:
        """All that sends something to the bot."""
        return [one for one in self._objects(user) if one.get("type") == "Action.Execute"]

    def input_ids(self, user: str) -> dict[str, str]:
        """The id of each input, by its label."""
        found = [one for one in self._objects(user) if str(one.get("type")).startswith("Input.")]
        return {str(one.get("label", "")): str(one["id"]) for one in found}

    def _objects(self, user: str) -> Iterator[dict[str, Any]]:
        card = self.message.card_for(user)
        return (one for _, one in elements_in(card)) if card else iter(())


def is_press(action: dict[str, Any]) -> bool:
    return action["data"]["hitl"] == "press"


def review_of(message: Message) -> str:
    """The review that the card is about; "" if the message is no card of a review."""
    body = message.card["body"] if message.card else []
    mark = _MARK.match(str(body[0].get("id", ""))) if body else None
    return mark.group(1) if mark else ""
