"""Changes of teams and channels: names, archives, deletions, members."""

from __future__ import annotations

from ..delivery import Activities, BotClient
from ..workspace import Conversation, Team, User, Workspace


class Teams:
    """Each change sends its event, if the app is installed in the team. `by` is a person's id."""

    def __init__(self, workspace: Workspace, activities: Activities, bot: BotClient) -> None:
        self._workspace, self._activities, self._bot = workspace, activities, bot

    async def rename_team(self, team_id: str, name: str, by: str) -> None:
        self._general(team_id)[1].name = name
        await self._tell(team_id, by, "teamRenamed")

    async def archive_team(self, team_id: str, by: str) -> None:
        self._general(team_id)[1].is_archived = True
        await self._tell(team_id, by, "teamArchived")

    async def restore_team(self, team_id: str, by: str) -> None:
        """Ends the archiving."""
        self._general(team_id)[1].is_archived = False
        await self._tell(team_id, by, "teamUnarchived")

    async def delete_team(self, team_id: str, by: str) -> None:
        self._general(team_id)[1].is_deleted = True
        await self._tell(team_id, by, "teamDeleted")

    async def create_channel(self, team_id: str, channel_id: str, name: str, by: str) -> None:
        _, team = self._general(team_id)
        channel = Conversation(channel_id, "channel", name, team=team)
        self._workspace.conversations[channel_id] = channel
        await self._tell(channel_id, by, "channelCreated")

    async def rename_channel(self, channel_id: str, name: str, by: str) -> None:
        self._workspace.conversations[channel_id].name = name
        await self._tell(channel_id, by, "channelRenamed")

    async def delete_channel(self, channel_id: str, by: str) -> None:
        self._workspace.conversations[channel_id].is_deleted = True
        await self._tell(channel_id, by, "channelDeleted")

    async def add_member(self, conversation_id: str, user_id: str, by: str) -> None:
        """To a team (by its id), a private or shared channel, or a group chat."""
        self._members(conversation_id).append(user_id)
        await self._tell_members(conversation_id, user_id, by, added=True)

    async def remove_member(self, conversation_id: str, user_id: str, by: str) -> None:
        self._members(conversation_id).remove(user_id)
        await self._tell_members(conversation_id, user_id, by, added=False)

    def _members(self, conversation_id: str) -> list[str]:
        conversation = self._workspace.conversations[conversation_id]
        if conversation.team and conversation.kind == "standard":
            return conversation.team.members
        return conversation.members

    async def _tell_members(self, conversation_id: str, user_id: str, by: str, added: bool) -> None:
        self._workspace.notify_change()
        conversation = self._workspace.conversations[conversation_id]
        user = self._workspace.users[user_id]
        change = "membersAdded" if added else "membersRemoved"
        if self._workspace.has_app(conversation):
            update = self._activities.members_changed(self._user(by), conversation, change, [user])
            await self._bot.send(update)

    async def _tell(self, conversation_id: str, by: str, event: str) -> None:
        self._workspace.notify_change()
        conversation = self._workspace.conversations[conversation_id]
        if self._workspace.has_app(conversation):
            update = self._activities.team_event(self._user(by), conversation, event)
            await self._bot.send(update)

    def _general(self, team_id: str) -> tuple[Conversation, Team]:
        general = self._workspace.conversations[team_id]
        if general.team is None or not general.is_general:
            raise ValueError(f"{team_id} is no team")
        return general, general.team

    def _user(self, user_id: str) -> User:
        return self._workspace.users[user_id]
