"""A person's answer, yes or no, to a bot that wants to send a file."""

from __future__ import annotations

from typing import Any, Literal

from ..delivery import Activities, Answer, BotClient
from ..files import Files
from ..json_checks import Json
from ..workspace import Message, User, Workspace

_CONSENT = "application/vnd.microsoft.teams.card.file.consent"
#: The content type of the card of an uploaded file.
FILE_INFO = "application/vnd.microsoft.teams.card.file.info"


class Consents:
    def __init__(
        self, workspace: Workspace, activities: Activities, bot: BotClient, files: Files
    ) -> None:
        self._workspace, self._activities, self._bot = workspace, activities, bot
        self._files = files

    async def answer(
        self, user: User, message: Message, action: Literal["accept", "decline"], **changed: Any
    ) -> Answer | None:
        """Sends the answer, and returns the bot's response. `changed` replaces fields of the `uploadInfo`.
        Raises ValueError if this person sees no such question."""
        conversation = self._workspace.conversations[message.conversation]
        card = consent_of(message)
        if user not in self._workspace.members(conversation) or card is None:
            raise ValueError(f"{user.name} is not asked about a file in this message")
        value: Json = {"type": "fileUpload", "action": action}
        value["context"] = card["content"][f"{action}Context"]
        if action == "accept":
            value["uploadInfo"] = self._files.open_upload(user, card["name"]) | changed
        return await self._bot.send(
            self._activities.file_consent(user, conversation, message, value)
        )


def consent_of(message: Message) -> Json | None:
    """The question about a file in this message."""
    cards = [one for one in message.attachments if one["contentType"] == _CONSENT]
    return cards[0] if cards and not message.deleted else None
