"""Records where the app is installed, and who is there: the bot may write only in these conversations.

learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/subscribe-to-conversation-events
"""

from __future__ import annotations

from ....people import Lookups
from ..channel import TeamsChannel
from ..transport import Activity
from .click import conversation_of
from .commands import Commands

#: The team and all of its channels are gone. If it is restored, an event says so too.
_TEAM_GONE = frozenset({"teamDeleted", "teamHardDeleted"})


class Installs:
    """Raises StoreUnavailable; then Teams sends the activity again."""

    def __init__(self, channel: TeamsChannel, lookups: Lookups, commands: Commands) -> None:
        self._channel, self._lookups, self._commands = channel, lookups, commands

    async def handle(self, activity: Activity) -> None:
        self._lookups.forget_members(conversation_of(activity))
        team = activity.channel_data.team
        if team is not None and activity.channel_data.event_type is not None:
            # It or a channel was renamed, added, deleted.
            self._channel.team_channels.expire(team.id)
        if (gone := self._gone(activity)) is not None:
            await self._channel.forget(gone)
            return
        await self._channel.record(activity)
        if activity.type == "installationUpdate" and activity.action == "add":
            await self._welcome(activity)

    def _gone(self, activity: Activity) -> str | None:
        """The conversation that is gone for the app: deleted, or without the app. A team has the id of its
        channel General. An upgrade removes the old version and adds the new one, so the app stays
        installed.
        """
        data, here = activity.channel_data, activity.conversation.id
        if data.event_type in _TEAM_GONE:
            return data.team.id if data.team else here
        if data.event_type == "channelDeleted":
            return data.channel.id if data.channel else None
        if activity.type == "installationUpdate":
            return here if activity.action == "remove" else None
        left = [one.id.lower() for one in activity.members_removed]
        return here if activity.recipient.id.lower() in left else None

    async def _welcome(self, activity: Activity) -> None:
        """Welcome the person, but only in their own chat: in a team it would only disturb."""
        if activity.conversation.conversation_type != "personal":
            return
        if (person := activity.sender.person) is not None:
            await self._commands.welcome(person)
