"""Changes of channels: join, leave, archive, rename.

https://docs.slack.dev/reference/events
"""

from __future__ import annotations

from ..delivery import Events
from ..json_checks import Json
from ..workspace import App, Channel, Workspace


class Channels:
    """Changes of channels, each with its event. Events about members, and all events of private channels,
    reach the app only if it is a member of the channel."""

    def __init__(self, workspace: Workspace, app: App, events: Events) -> None:
        self._workspace, self._app, self._events = workspace, app, events

    def join(self, channel_id: str, user: str, inviter: str | None = None) -> None:
        channel = self._workspace.channels[channel_id]
        if user not in channel.members:
            channel.members.append(user)
            self._workspace.notify_change()
            more = {"inviter": inviter} if inviter else {}
            self._send_membership_event("member_joined_channel", channel, user, more)

    def leave(self, channel_id: str, user: str) -> None:
        channel = self._workspace.channels[channel_id]
        channel.members.remove(user)
        self._workspace.notify_change()
        if user == self._app.user_id:
            event: Json = {"type": f"{_kind(channel)}_left", "channel": channel.id}
            self._events.send(event, needs=_scope(channel))
        else:
            self._send_membership_event("member_left_channel", channel, user, {})

    def archive(self, channel_id: str, by: str = "U0DANA") -> None:
        self._workspace.channels[channel_id].is_archived = True
        self._send_event("archive", channel_id, {"channel": channel_id, "user": by})

    def unarchive(self, channel_id: str, by: str = "U0DANA") -> None:
        self._workspace.channels[channel_id].is_archived = False
        self._send_event("unarchive", channel_id, {"channel": channel_id, "user": by})

    def rename(self, channel_id: str, name: str) -> None:
        renamed = self._workspace.channels[channel_id]
        renamed.previous_names.insert(0, renamed.name)
        renamed.name = name
        channel = {"id": channel_id, "name": name, "created": 1_700_000_000}
        self._send_event("rename", channel_id, {"channel": channel})

    def share(self, channel_id: str) -> str:
        """Shares a private channel with another organization. It gets a new id, which is returned, and the
        app's calls with the former one fail.
        https://docs.slack.dev/reference/events/channel_id_changed"""
        channel = self._workspace.channels.pop(channel_id)
        channel.id, channel.is_ext_shared = self._workspace.new_id("C"), True
        self._workspace.channels[channel.id] = channel
        for message in channel.messages.values():
            message.channel = channel.id
        self._workspace.notify_change()
        if self._app.user_id in channel.members:
            self._events.send(
                {
                    "type": "channel_id_changed",
                    "old_channel_id": channel_id,
                    "new_channel_id": channel.id,
                },
                needs=_scope(channel),
            )
        return channel.id

    def _send_event(self, change: str, channel_id: str, more: Json) -> None:
        channel = self._workspace.channels[channel_id]
        self._workspace.notify_change()
        if not channel.is_private or self._app.user_id in channel.members:
            event = {"type": f"{_kind(channel)}_{change}", **more}
            self._events.send(event, needs=_scope(channel))

    def _send_membership_event(self, kind: str, channel: Channel, user: str, more: Json) -> None:
        if self._app.user_id in channel.members:
            person = self._workspace.person(user)
            event: Json = {
                "type": kind,
                "user": user,
                "channel": channel.id,
                "channel_type": channel.id[0],
                "team": (person and person.team_id) or self._workspace.team_id,
            }
            self._events.send(event | more, needs=_scope(channel))


def _kind(channel: Channel) -> str:
    return "group" if channel.is_private else "channel"


def _scope(channel: Channel) -> str:
    return f"{_kind(channel)}s:read"
