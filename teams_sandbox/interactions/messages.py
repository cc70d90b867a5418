"""Messages that people write, and which of them reach the bot."""

from __future__ import annotations

from ..delivery import Activities, BotClient
from ..json_checks import Json
from ..workspace import Conversation, Message, User, Workspace

#: With these, the bot gets all messages where it is installed, not only those that mention it.
#: https://learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/channel-messages-for-bots-and-agents
READS_ALL = {"channel": "ChannelMessage.Read.Group", "groupChat": "ChatMessage.Read.Chat"}


class Messages:
    def __init__(self, workspace: Workspace, activities: Activities, bot: BotClient) -> None:
        self._workspace, self._activities, self._bot = workspace, activities, bot

    async def say(
        self,
        user: User,
        conversation: Conversation,
        text: str,
        *,
        mention: bool = False,
        root: str | None = None,
    ) -> Message:
        """Writes a message, with a mention of the bot before the text, and sends it to the bot if it is for
        it. `root`: the thread in a channel. Raises ValueError if this person can't write there."""
        if user not in self._workspace.members(conversation):
            raise ValueError(f"{user.name} is not in this conversation")
        app = self._workspace.app
        label = f"<at>{app.name}</at>"
        message = self._workspace.add_message(conversation, user.id, text, root)
        if mention:
            message.text = f"{label} {text}"
            message.entities = [_mention(label, app.mri, app.name)]
        self._workspace.notify_change()
        if self._reaches_bot(conversation, mention):
            await self._bot.send(self._activities.message(user, conversation, message))
        return message

    def _reaches_bot(self, conversation: Conversation, mention: bool) -> bool:
        if not self._workspace.has_app(conversation):
            return False
        permission = READS_ALL.get(conversation.type)
        return mention or permission is None or permission in self._workspace.app.permissions


def _mention(label: str, mri: str, name: str) -> Json:
    return {"type": "mention", "text": label, "mentioned": {"id": mri, "name": name}}
