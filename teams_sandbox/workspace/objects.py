"""What a tenant has: the app, people, groups, teams, conversations, messages."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Literal

from ..json_checks import Json

ConversationType = Literal["channel", "groupChat", "personal"]
ChannelKind = Literal["standard", "private", "shared"]


@dataclass
class App:
    """The one app: its registration in Entra, its secret, and what an administrator granted. Tests may
    change all of it. `permissions`: those of Graph, also the resource-specific ones, which count only where
    the app is installed. `supports_files`: as the manifest says."""

    client_id: str
    client_secret: str
    permissions: set[str]
    name: str = "Approvals"
    disabled_by_admin: bool = False
    supports_files: bool = True

    @property
    def mri(self) -> str:
        """The bot's id in Teams."""
        return f"28:{self.client_id}"


@dataclass
class User:
    """`id` is the aadObjectId. `tenant_id`: another tenant, for somebody who is here from there (in a shared
    channel or a group chat). `has_app`: the app is installed for them. `has_blocked`: they blocked it."""

    id: str
    name: str
    display_name: str
    is_guest: bool = False
    account_enabled: bool = True
    tenant_id: str = ""
    has_app: bool = True
    has_blocked: bool = False

    @property
    def mri(self) -> str:
        """The person's id for this bot: `29:1…`."""
        return f"29:1{long_id('mri', self.id)}"

    @property
    def mail(self) -> str:
        return f"{self.name}@{'globex' if self.tenant_id else 'acme'}.example"

    @property
    def upn(self) -> str:
        """The user principal name. A guest's contains the mail address at their own company."""
        return f"{self.name}_other.example#EXT#@acme.example" if self.is_guest else self.mail


@dataclass
class Group:
    """A group of Entra. `members` are people, `groups` other groups that are members. `hides_members`: only
    apps with a permission of their own see them.
    """

    id: str
    name: str
    members: list[str]
    groups: list[str] = field(default_factory=list[str])
    hides_members: bool = False


@dataclass
class Team:
    """`id` is that of its General channel, as in Teams. `group_id`: its group in Entra."""

    id: str
    name: str
    group_id: str
    members: list[str]
    installed: bool = True
    is_archived: bool = False
    is_deleted: bool = False


@dataclass
class Message:
    """`id`: milliseconds, in the Connector, in Graph and as `replyToId` of a press, also in personal chats
    (https://github.com/MicrosoftDocs/msteams-docs/issues/6139). `root`: the first message of the thread, in
    channels. `sender`: a person's id, or the bot's MRI. `cards` are what single people see in place of the
    first card, because a button of it was answered with a card."""

    conversation: str
    id: str
    sender: str
    text: str = ""
    attachments: list[Json] = field(default_factory=list[Json])
    entities: list[Json] = field(default_factory=list[Json])
    summary: str = ""
    root: str | None = None
    edited_at: float | None = None
    deleted: bool = False
    cards: dict[str, Json] = field(default_factory=dict[str, Json])

    @property
    def legacy_id(self) -> str:
        """The `replyToId` of a press until 2019. The Connector finds no message by this id."""
        return f"1:1{long_id('activity', self.id)[:43]}"

    @property
    def created_at(self) -> float:
        """In seconds."""
        return int(self.id) / 1000

    @property
    def card(self) -> Json | None:
        """The Adaptive Card that everybody sees."""
        contents = [one["content"] for one in self.attachments if "adaptive" in one["contentType"]]
        return contents[0] if contents else None

    def card_for(self, user: str) -> Json | None:
        return self.cards.get(user) or self.card


@dataclass
class File:
    """A file in a person's OneDrive; `data` is None until the bot has written it."""

    id: str
    user: str
    name: str
    content_url: str
    data: bytes | None = None


@dataclass
class Conversation:
    """A channel, a group chat or a personal chat. `members`: the people; a standard channel has those of its
    team, see Workspace.members. `installed`: whether the app is in this group chat, or in this private or
    shared channel, to which it must be added apart from the team."""

    id: str
    type: ConversationType
    name: str = ""
    members: list[str] = field(default_factory=list[str])
    team: Team | None = None
    kind: ChannelKind = "standard"
    installed: bool = True
    is_archived: bool = False
    is_deleted: bool = False
    messages: dict[str, Message] = field(default_factory=dict[str, Message])

    @property
    def is_general(self) -> bool:
        return self.team is not None and self.team.id == self.id

    def replies(self, root: str) -> list[Message]:
        """The replies in the thread of this message, oldest first."""
        return [one for one in self.messages.values() if one.root == root and one.id != root]


def long_id(*parts: str) -> str:
    """An id in the format of Teams. The same parts always give the same id."""
    hashed = hashlib.sha512("\0".join(parts).encode()).digest()
    return base64.urlsafe_b64encode(hashed).decode().rstrip("=")
