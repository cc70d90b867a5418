"""What a workspace has: the app, people, groups, channels, messages, private notices."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..json_checks import Json


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
    is_installed: bool = True


@dataclass
class User:
    """A guest of several channels is restricted; a guest of one channel is ultra-restricted too.
    `team_id`: another workspace, for a person who is here through Slack Connect. `grid_teams`: the workspaces
    of a person of an Enterprise Grid organization; they are at home in the first one."""

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
    grid_teams: tuple[str, ...] = ()

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
    """`messages` is changed by `put` and `drop` only."""

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
    #: The replies of each thread: every message that is read tells their number.
    _threads: dict[str, dict[str, Message]] = field(
        default_factory=dict[str, dict[str, Message]], init=False, repr=False, compare=False
    )

    def put(self, message: Message) -> None:
        self.messages[message.ts] = message
        if message.thread_ts and message.thread_ts != message.ts:
            self._threads.setdefault(message.thread_ts, {})[message.ts] = message

    def drop(self, message: Message) -> None:
        del self.messages[message.ts]
        if message.thread_ts:
            self._threads.get(message.thread_ts, {}).pop(message.ts, None)

    def replies(self, ts: str) -> list[Message]:
        """The replies in the thread of `ts`, oldest first."""
        return list(self._threads.get(ts, {}).values())

    def can_write(self, user: str, app: App) -> bool:
        """Whether this user may write: members, but not in an archived channel, and not if the app's
        messages tab is read-only."""
        to_the_app = self.is_im and app.user_id in self.members
        refused = self.is_archived or (to_the_app and app.messages_tab_read_only)
        return user in self.members and not refused

    def other_member(self, user: str) -> str:
        """The other user of this direct message."""
        return next(one for one in self.members if one != user)
