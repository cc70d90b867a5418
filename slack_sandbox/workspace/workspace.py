"""The state of the workspace, and what listens to its changes. No HTTP."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable

from ..json_checks import Json
from .mentions import Notification, find_mentions
from .objects import Channel, Ephemeral, Group, Message, User


class Workspace:
    """One team. Every change calls the listeners, so that a page can update itself. `users`: those that
    the page shows. `crowd`: the many others of a large channel."""

    def __init__(
        self,
        team_id: str,
        name: str,
        users: list[User],
        channels: list[Channel],
        now: Callable[[], float],
        *,
        groups: Iterable[Group] = (),
        crowd: Iterable[User] = (),
    ) -> None:
        self.team_id, self.name, self.domain, self.now = team_id, name, name.lower(), now
        self.users = {user.id: user for user in users}
        self.crowd = {user.id: user for user in crowd}
        self.groups = {group.id: group for group in groups}
        self.channels = {channel.id: channel for channel in channels}
        self.notifications: list[Notification] = []
        self.ephemerals: dict[str, Ephemeral] = {}
        self.files: dict[str, Json] = {}
        self._last_ts = 0
        self._listeners: list[Callable[[], None]] = []

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls `listener` after every change. The returned function removes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def notify_change(self) -> None:
        for listener in list(self._listeners):
            listener()

    def next_ts(self) -> str:
        """Seconds and microseconds, unique and increasing: Slack's id of a message."""
        self._last_ts = max(self._last_ts + 1, int(self.now() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def advance_ts(self, ts: str) -> None:
        """Makes the next ts later than this one."""
        self._last_ts = max(self._last_ts, int(ts.replace(".", "")))

    @staticmethod
    def new_id(letter: str) -> str:
        return letter + secrets.token_hex(5).upper()

    def person(self, user: str) -> User | None:
        return self.users.get(user) or self.crowd.get(user)

    def is_from_other_team(self, user: User) -> bool:
        return user.team_id not in ("", self.team_id)

    def can_see(self, user: str, channel: Channel) -> bool:
        """Members see a channel. Everybody sees a public one, except guests and strangers."""
        known = self.person(user)
        guest = known is not None and (known.is_restricted or self.is_from_other_team(known))
        return user in channel.members or not (channel.is_private or guest)

    def knows_user(self, app_user: str, user: User) -> bool:
        """Whether the app may know this person: it knows everybody in its own workspace, and others with whom
        it shares a channel.
        """
        if not self.is_from_other_team(user):
            return True
        return any({user.id, app_user} <= set(one.members) for one in self.channels.values())

    @staticmethod
    def direct_channel_id(user: str) -> str:
        """The id of the first direct message of this person with the app."""
        return f"D{user[1:]}"

    def find_direct_channel(self, user: str, app_user: str) -> Channel | None:
        """The direct message of this person and the app, if there is one. A bot that was installed anew has
        another one than the former bot.
        """
        members = {user, app_user}
        found = (one for one in self.channels.values() if one.is_im and {*one.members} == members)
        return next(found, None)

    def open_direct_channel(self, user: str, app_user: str) -> Channel:
        """The direct message of this person and the app; it is created if needed."""
        if (found := self.find_direct_channel(user, app_user)) is not None:
            return found
        channel_id = self.direct_channel_id(user)
        while channel_id in self.channels:
            channel_id += "X"
        new = Channel(channel_id, "directmessage", [user, app_user], is_private=True, is_im=True)
        self.channels[channel_id] = new
        self.notify_change()
        return new

    def add(self, message: Message) -> Message:
        """Adds the message. As in Slack, a reply to a missing message goes to the channel, and a reply
        to a reply joins the thread of the first message."""
        channel = self.channels[message.channel]
        parent = channel.messages.get(message.thread_ts) if message.thread_ts else None
        message.thread_ts = (parent.thread_ts or parent.ts) if parent else None
        channel.put(message)
        self._notify_members(message)
        self.notify_change()
        return message

    def _notify_members(self, message: Message) -> None:
        """Notifies the members of the channel whom the message mentions, except its author."""
        channel, mentioned = (
            self.channels[message.channel],
            find_mentions(message.text, message.blocks),
        )
        groups = {group.id: group.users for group in self.groups.values()}
        for user in channel.members:
            reason = mentioned.reason_for(user, groups) or ("dm" if channel.is_im else None)
            if reason and user != message.user:
                self.notifications.append(Notification(user, channel.id, message.ts, reason))

    def remove(self, message: Message) -> None:
        """Deletes the message. If it has a thread, a placeholder stays."""
        channel = self.channels[message.channel]
        if channel.replies(message.ts):
            message.deleted, message.text = True, "This message was deleted."
            message.blocks, message.metadata, message.files = [], None, []
        else:
            channel.drop(message)
        self.notify_change()

    def add_ephemeral(self, notice: Ephemeral) -> Ephemeral:
        self.ephemerals[notice.ts] = notice
        self.notify_change()
        return notice

    def dismiss_ephemeral(self, ts: str) -> None:
        if self.ephemerals.pop(ts, None):
            self.notify_change()
