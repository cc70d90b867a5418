"""The state of the workspace: people, groups, channels, messages, private notices. No HTTP."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..json_checks import Json
from .mentions import Notification, find_mentions


@dataclass
class App:
    """The one installed app: its ids, what it may do, and the secrets that it shares with Slack. Tests may
    change what its manifest sets: scopes, events, slash commands, the tabs of its App Home."""

    token: str
    signing_secret: str
    scopes: frozenset[str]
    events: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    home_tab: bool = True
    messages_tab: bool = True
    messages_tab_read_only: bool = True  # then nobody can write in that tab
    app_id: str = "A0APPROVER"
    bot_id: str = "B0APPROVER"
    user_id: str = "U0APPROVER"
    verification_token: str = "sandbox-verification-token"
    app_token: str = "xapp-sandbox"


@dataclass
class User:
    """A guest of several channels is restricted; a guest of one channel is ultra-restricted too.
    `team_id`: another workspace, for a person who is here through Slack Connect."""

    id: str
    name: str
    real_name: str
    is_bot: bool = False
    is_restricted: bool = False
    deleted: bool = False
    is_ultra_restricted: bool = False
    is_admin: bool = False
    is_owner: bool = False
    team_id: str = ""
    bot_id: str = ""

    @property
    def email(self) -> str:
        return f"{self.name}@{self.team_id.lower() or 'acme'}.example"


@dataclass
class Group:
    """A user group. `updated` is when it last changed, in seconds."""

    id: str
    handle: str
    name: str
    users: list[str]
    disabled: bool = False
    updated: int = 0


@dataclass
class Message:
    """`text` is as Slack stores it (with entities). `edited` is the ts of the last edit."""

    channel: str
    ts: str
    user: str
    text: str
    blocks: list[Json] = field(default_factory=list[Json])
    bot_id: str | None = None
    app_id: str | None = None
    thread_ts: str | None = None
    metadata: Json | None = None
    edited: str | None = None
    files: list[Json] = field(default_factory=list[Json])
    deleted: bool = False


@dataclass
class Ephemeral:
    """A notice that only one person sees. Its id is its ts; no method of the Web API can find it."""

    user: str
    channel: str
    ts: str
    text: str
    blocks: list[Json]
    thread_ts: str | None = None


@dataclass
class Channel:
    id: str
    name: str
    members: list[str]
    topic: str = ""
    is_private: bool = False
    is_archived: bool = False
    is_im: bool = False
    is_ext_shared: bool = False
    previous_names: list[str] = field(default_factory=list[str])
    messages: dict[str, Message] = field(default_factory=dict[str, Message])

    def replies(self, ts: str) -> list[Message]:
        """The replies in the thread of `ts`, oldest first."""
        return [one for one in self.messages.values() if one.thread_ts == ts and one.ts != ts]

    def can_write(self, user: str, app: App) -> bool:
        """Whether this user may write: members, but not in an archived channel, and not if the app's
        messages tab is read-only."""
        to_the_app = self.is_im and app.user_id in self.members
        refused = self.is_archived or (to_the_app and app.messages_tab_read_only)
        return user in self.members and not refused

    def other_member(self, user: str) -> str:
        """The other user of this direct message."""
        return next(one for one in self.members if one != user)


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
        """Whether the app may know this person: all of its own workspace, and others with whom it
        shares a channel."""
        if not self.is_from_other_team(user):
            return True
        return any({user.id, app_user} <= set(one.members) for one in self.channels.values())

    @staticmethod
    def direct_channel_id(user: str) -> str:
        """The id of the app's direct message with this person."""
        return f"D{user[1:]}"

    def open_direct_channel(self, user: str, app_user: str) -> Channel:
        """The direct message of this person and the app; it is created if needed."""
        channel_id = self.direct_channel_id(user)
        if channel_id not in self.channels:
            members = [user, app_user]
            self.channels[channel_id] = Channel(
                channel_id, "directmessage", members, is_private=True, is_im=True
            )
            self.notify_change()
        return self.channels[channel_id]

    def add(self, message: Message) -> Message:
        """Adds the message. As in Slack, a reply to a missing message goes to the channel, and a reply
        to a reply joins the thread of the first message."""
        messages = self.channels[message.channel].messages
        parent = messages.get(message.thread_ts) if message.thread_ts else None
        message.thread_ts = (parent.thread_ts or parent.ts) if parent else None
        messages[message.ts] = message
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
            del channel.messages[message.ts]
        self.notify_change()

    def add_ephemeral(self, notice: Ephemeral) -> Ephemeral:
        self.ephemerals[notice.ts] = notice
        self.notify_change()
        return notice

    def dismiss_ephemeral(self, ts: str) -> None:
        if self.ephemerals.pop(ts, None):
            self.notify_change()
