"""Where the app is installed: teams, group chats, people.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/subscribe-to-conversation-events
"""

from __future__ import annotations

from ..delivery import Activities, BotClient
from ..workspace import Conversation, User, Workspace


class Installs:
    """Each change sends installationUpdate, then conversationUpdate, as Teams does. `by` is a person's id."""

    def __init__(self, workspace: Workspace, activities: Activities, bot: BotClient) -> None:
        self._workspace, self._activities, self._bot = workspace, activities, bot

    async def add(self, conversation_id: str, by: str) -> None:
        """To a team (by the id of its General channel) or to a group chat."""
        conversation = self._set_installed(conversation_id, True)
        await self._tell_added(conversation, self._user(by))

    async def remove(self, conversation_id: str, by: str) -> None:
        conversation, user = self._set_installed(conversation_id, False), self._user(by)
        await self._bot.send(self._activities.installation(user, conversation, "remove"))
        gone = self._activities.members_changed(user, conversation, "membersRemoved", [None])
        await self._bot.send(gone)

    async def add_for(self, user_id: str) -> Conversation:
        """For a person, who then has a chat with the bot."""
        user = self._user(user_id)
        user.has_app = True
        chat = self._workspace.open_personal_chat(user)
        await self._tell_added(chat, user)
        return chat

    async def remove_for(self, user_id: str) -> None:
        user = self._user(user_id)
        user.has_app = False
        self._workspace.notify_change()
        chat = self._workspace.open_personal_chat(user)
        await self._bot.send(self._activities.installation(user, chat, "remove"))

    async def announce(self) -> None:
        """Tells the bot again all places where the app is installed, as if it were added now. A bot that
        starts with an empty store needs this."""
        for conversation in list(self._workspace.conversations.values()):
            is_place = conversation.team is None or conversation.is_general
            if is_place and self._workspace.has_app(conversation):
                await self._tell_added(conversation, self._workspace.members(conversation)[0])

    async def _tell_added(self, conversation: Conversation, user: User) -> None:
        await self._bot.send(self._activities.installation(user, conversation, "add"))
        added = self._activities.members_changed(user, conversation, "membersAdded", [None])
        await self._bot.send(added)

    def _set_installed(self, conversation_id: str, installed: bool) -> Conversation:
        conversation = self._workspace.conversations[conversation_id]
        if conversation.team:
            conversation.team.installed = installed
        else:
            conversation.installed = installed
        self._workspace.notify_change()
        return conversation

    def _user(self, user_id: str) -> User:
        return self._workspace.users[user_id]
