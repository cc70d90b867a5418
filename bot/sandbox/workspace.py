"""The state of the workspace: people, channels, messages, private notices. It knows no HTTP."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.sandbox.shapes import Json


@dataclass(frozen=True)
class App:
    """The one installed app: who it is, what it may do, and the secrets it shares with Slack."""

    token: str
    signing_secret: str
    scopes: frozenset[str]
    app_id: str = "A0APPROVER"
    bot_id: str = "B0APPROVER"
    user_id: str = "U0APPROVER"
    verification_token: str = "sandbox-verification-token"
    app_token: str = "xapp-sandbox"


@dataclass
class User:
    id: str
    name: str
    real_name: str
    is_bot: bool = False
    is_restricted: bool = False
    deleted: bool = False


@dataclass
class Message:
    """`text` is written as Slack keeps it (entities), `edited` is the ts of the last edit."""

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
    """A notice that one person sees. Its id is its ts, which no method of the Web API can find."""

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
    messages: dict[str, Message] = field(default_factory=dict[str, Message])

    def replies(self, ts: str) -> list[Message]:
        """The replies in the thread of `ts`, oldest first."""
        return [one for one in self.messages.values() if one.thread_ts == ts and one.ts != ts]


class Workspace:
    """One team. Every change calls the listeners, so that a page can follow it."""

    def __init__(
        self,
        team_id: str,
        name: str,
        users: list[User],
        channels: list[Channel],
        now: Callable[[], float],
    ) -> None:
        self.team_id, self.name, self.domain, self.now = team_id, name, name.lower(), now
        self.users = {user.id: user for user in users}
        self.channels = {channel.id: channel for channel in channels}
        self.ephemerals: dict[str, Ephemeral] = {}
        self.files: dict[str, Json] = {}
        self._last_ts = 0
        self._listeners: list[Callable[[], None]] = []

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls `listener` after every change, until the function that this returns is called."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def changed(self) -> None:
        for listener in list(self._listeners):
            listener()

    def next_ts(self) -> str:
        """Seconds and microseconds, unique and increasing: Slack's id of a message."""
        self._last_ts = max(self._last_ts + 1, int(self.now() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def not_before(self, ts: str) -> None:
        """Makes the next ts a later one than this."""
        self._last_ts = max(self._last_ts, int(ts.replace(".", "")))

    @staticmethod
    def new_id(letter: str) -> str:
        return letter + secrets.token_hex(5).upper()

    def sees(self, user: str, channel: Channel) -> bool:
        """Members see a channel; public ones are seen by everybody but guests."""
        known = self.users.get(user)
        guest = known is not None and known.is_restricted
        return user in channel.members or not (channel.is_private or guest)

    def add(self, message: Message) -> Message:
        """Files the message. A reply to a message that is not there lands in the channel, as in
        Slack; a reply to a reply joins the thread of its parent."""
        messages = self.channels[message.channel].messages
        parent = messages.get(message.thread_ts) if message.thread_ts else None
        message.thread_ts = (parent.thread_ts or parent.ts) if parent else None
        messages[message.ts] = message
        self.changed()
        return message

    def remove(self, message: Message) -> None:
        """Deletes the message; what starts a thread leaves a tombstone."""
        channel = self.channels[message.channel]
        if channel.replies(message.ts):
            message.deleted, message.text = True, "This message was deleted."
            message.blocks, message.metadata, message.files = [], None, []
        else:
            del channel.messages[message.ts]
        self.changed()

    def whisper(self, notice: Ephemeral) -> Ephemeral:
        self.ephemerals[notice.ts] = notice
        self.changed()
        return notice

    def dismiss(self, ts: str) -> None:
        if self.ephemerals.pop(ts, None):
            self.changed()
