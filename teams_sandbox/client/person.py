"""One person who uses Teams: reads, presses buttons and fills in inputs by their labels, and writes.

alice = Person(sandbox, ids.ALICE)
message = await alice.wait_for_card(ids.APPROVALS, "Refund")
result = await alice.press(message, "Approve")
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

from ..interactions import Notice, PressResult
from ..json_checks import Json
from ..sandbox import Sandbox
from ..validation import Entry, elements_in
from ..workspace import Conversation, Message

T = TypeVar("T")


class ScriptError(Exception):
    """A script named something that is not there."""


class Person:
    """`user_id` is the aadObjectId. Conversations are named by their ids. `chat` is the person's chat with
    the bot.
    """

    def __init__(self, sandbox: Sandbox, user_id: str) -> None:
        self._sandbox, self._workspace = sandbox, sandbox.workspace
        user = sandbox.workspace.person(user_id)
        if user is None:
            raise ScriptError(f"there is nobody {user_id}")
        self.user = user

    @property
    def chat(self) -> str:
        """The id of the personal chat with the bot."""
        return self._workspace.open_personal_chat(self.user).id

    def messages(self, conversation: str, root: str | None = None) -> list[Message]:
        """The messages that this person can read there, oldest first; with `root` those of one thread."""
        place = self._place(conversation)
        found = [one for one in place.messages.values() if not one.deleted]
        return [one for one in found if root is None or one.root == root]

    def card(self, message: Message) -> Json:
        """The card that this person sees in this message."""
        card = message.card_for(self.user.id)
        if card is None:
            raise ScriptError(f"the message {message.id} has no card")
        return card

    def text(self, message: Message) -> str:
        """All that this person reads in this message."""
        card = message.card_for(self.user.id)
        return read_text(card) if card else message.text

    def buttons(self, message: Message) -> list[str]:
        """The labels of the card's buttons."""
        return [str(action.get("title", "")) for action in _actions(self.card(message))]

    def notices(self) -> list[Notice]:
        """The texts that this person saw below cards after presses."""
        return [one for one in self._sandbox.presses.notices if one.user == self.user.id]

    async def press(
        self,
        message: Message,
        label: str,
        entries: Mapping[str, Entry] | None = None,
        *,
        number: int = 0,
    ) -> PressResult:
        """Presses the button with this label; `number`: which one, if several have it. `entries`: what the
        person types or chooses before, by the input's label or id."""
        card = self.card(message)
        found = [one for one in _actions(card) if one.get("title") == label]
        if number >= len(found):
            raise ScriptError(f"no button {label!r} ({number}) among {self.buttons(message)}")
        named = {_input_id(card, name): value for name, value in (entries or {}).items()}
        try:
            return await self._sandbox.presses.press(self.user, message, found[number], named)
        except ValueError as error:
            raise ScriptError(str(error)) from None

    async def say(
        self, text: str, conversation: str = "", *, mention: bool = False, root: str | None = None
    ) -> Message:
        """Writes in a conversation; without one, to the bot."""
        place = self._place(conversation or self.chat)
        return await self._sandbox.messages.say(self.user, place, text, mention=mention, root=root)

    async def answer_file(
        self, message: Message, action: Literal["accept", "decline"] = "accept"
    ) -> None:
        """Accepts or declines the file that the bot wants to send."""
        try:
            await self._sandbox.consents.answer(self.user, message, action)
        except ValueError as error:
            raise ScriptError(str(error)) from None

    def files(self) -> dict[str, str]:
        """The texts of the files in this person's OneDrive, by name."""
        files = [one for one in self._workspace.files.values() if one.user == self.user.id]
        return {one.name: one.data.decode() for one in files if one.data is not None}

    def reload(self) -> None:
        """Opens Teams again: a card that was the answer to a press is replaced by the card that everybody
        sees.
        """
        for conversation in self._workspace.conversations.values():
            for message in conversation.messages.values():
                message.cards.pop(self.user.id, None)

    async def wait_for_card(
        self, conversation: str, text: str, *, timeout: float = 60.0
    ) -> Message:
        """The newest message with this text, as soon as it is there."""

        def find() -> Message | None:
            found = self.messages(conversation)
            return next((one for one in reversed(found) if text in self.text(one)), None)

        return await self.wait_for(find, timeout=timeout)

    async def wait_for(self, find: Callable[[], T | None], *, timeout: float = 60.0) -> T:
        """The first truthy result of `find`, which is called after every change. Raises TimeoutError."""
        changed = asyncio.Event()
        forget = self._workspace.on_change(changed.set)
        try:
            async with asyncio.timeout(timeout):
                while not (result := find()):
                    changed.clear()
                    await changed.wait()
                return result
        except TimeoutError:
            raise TimeoutError(f"{self.user.name} did not see it within {timeout} s") from None
        finally:
            forget()

    def _place(self, conversation: str) -> Conversation:
        found = self._workspace.find_conversation(conversation)
        if found is None or self.user not in self._workspace.members(found):
            raise ScriptError(f"{self.user.name} sees no conversation {conversation}")
        return found


def read_text(card: Json) -> str:
    """The text of a card, with a line for each block, and without the labels of buttons."""
    lines: list[str] = []
    for _, element in elements_in(card):
        match element:
            case {"type": "RichTextBlock"}:
                lines.append("".join(map(_inline_text, element["inlines"])))
            case {"type": "TextBlock", "text": str(text)}:
                lines.append(text)
            case {"type": "Input.Toggle", "title": str(title)}:
                lines.append(title)
            case {"label": str(label)}:
                lines.append(label)
            case _:
                pass
    return "\n".join(lines)


def _inline_text(inline: object) -> str:
    match inline:
        case str(text) | {"text": str(text)}:
            return text
        case _:
            return ""


def _actions(card: Json) -> list[Json]:
    found = [one for _, one in elements_in(card)]
    return [one for one in found if one.get("type") == "Action.Execute"]


def _input_id(card: Json, name: str) -> str:
    """The id of the input with this id or label."""
    inputs = [one for _, one in elements_in(card) if str(one.get("type", "")).startswith("Input.")]
    for key in ("id", "label", "title"):
        found = [str(one["id"]) for one in inputs if one.get(key) == name]
        if len(found) == 1:
            return found[0]
    available = [(one["id"], one.get("label") or one.get("title")) for one in inputs]
    raise ScriptError(f"no one input is {name!r}; there are {available}")
