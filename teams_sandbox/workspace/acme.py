"""The default tenant: a small company, its guests, its teams and chats, and one app."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .objects import App, Conversation, Group, Team, User
from .workspace import Workspace

TENANT = "ac3e0000-0000-4000-8000-000000000000"
GLOBEX_TENANT = "910bec00-0000-4000-8000-000000000000"
CLIENT_ID = "b0700000-0000-4000-8000-000000000001"

ALICE = "a11ce000-0000-4000-8000-000000000001"
BOB = "b0b00000-0000-4000-8000-000000000002"
CARL = "ca210000-0000-4000-8000-000000000003"
DANA = "da4a0000-0000-4000-8000-000000000004"
MARIA = "3a21a000-0000-4000-8000-000000000005"
GONE = "90e00000-0000-4000-8000-000000000006"  # has left the company
GUEST = "90e57000-0000-4000-8000-000000000007"
GINA = "914a0000-0000-4000-8000-000000000008"  # a guest, too
SAM = "5a300000-0000-4000-8000-000000000009"  # of another tenant
NOAPP = "40a00000-0000-4000-8000-00000000000a"  # a member who has not installed the app

OPS_GROUP = "0b500000-0000-4000-8000-0000000000a1"
FINANCE_GROUP = "f14a0000-0000-4000-8000-0000000000a2"
ALL_LEADS_GROUP = "1ead0000-0000-4000-8000-0000000000a3"  # has the two groups above as members
EMPTY_GROUP = "e3b70000-0000-4000-8000-0000000000a4"
CROWD_SIZE = 1200


def channel_id(name: str) -> str:
    return f"19:{name}000000000000000000000000000000@thread.tacv2"


APPROVALS_TEAM = channel_id("approvals")  # the id of a team is that of its General channel
APPROVALS = APPROVALS_TEAM
AUDIT = channel_id("audit")
ARCHIVED = channel_id("archived")
SHARED = channel_id("shared")
PRIVATE = channel_id("private")
OPS_TEAM = channel_id("ops")
OPS = OPS_TEAM
ESCALATIONS = channel_id("escalations")
EVERYONE_TEAM = channel_id("everyone")
NO_BOT_TEAM = channel_id("nobot")
NO_BOT = NO_BOT_TEAM
OLD_TEAM = channel_id("oldteam")
GROUP_CHAT = "19:release000000000000000000000000@thread.v2"
EXTERNAL_CHAT = "19:globexchat00000000000000000000@thread.v2"
NO_BOT_CHAT = "19:nobotchat000000000000000000000@thread.v2"

APPROVALS_GROUP = "a9970000-0000-4000-8000-0000000000b1"  # aadGroupIds of the teams
OPS_TEAM_GROUP = "0b5e0000-0000-4000-8000-0000000000b2"
EVERYONE_GROUP = "e7e40000-0000-4000-8000-0000000000b3"
NO_BOT_GROUP = "40b00000-0000-4000-8000-0000000000b4"
OLD_GROUP = "01d00000-0000-4000-8000-0000000000b5"

# The permissions that docs/teams.md asks an administrator to grant.
DEFAULT_PERMISSIONS = frozenset(
    {
        "User.Read.All",
        "GroupMember.Read.All",
        "ChannelMessage.Read.Group",
        "ChatMessage.Read.Chat",
    }
)


def acme_app(client_secret: str, permissions: Iterable[str] | None = None) -> App:
    return App(
        CLIENT_ID, client_secret, set(DEFAULT_PERMISSIONS if permissions is None else permissions)
    )


def acme(now: Callable[[], float], app: App) -> Workspace:
    return Workspace(
        TENANT,
        "Acme",
        app,
        _users(),
        _conversations(),
        now,
        groups=_groups(),
        crowd=[
            User(f"c40d0000-0000-4000-8000-{n:012x}", f"crowd{n}", f"Crowd Member {n}")
            for n in range(1, CROWD_SIZE + 1)
        ],
    )


def _users() -> list[User]:
    return [
        User(ALICE, "alice", "Alice Ng"),
        User(BOB, "bob", "Bob Reyes"),
        User(CARL, "carl", "Carl Weiss"),
        User(DANA, "dana", "Dana Okoye"),
        User(MARIA, "maria", "Maria Lopez"),
        User(GONE, "gone", "Gil Gone", account_enabled=False),
        User(GUEST, "guest", "Gus Guest", is_guest=True),
        User(GINA, "gina", "Gina Gast", is_guest=True, has_app=False),
        User(SAM, "sam", "Sam Strange", tenant_id=GLOBEX_TENANT, has_app=False),
        User(NOAPP, "nora", "Nora Newcomer", has_app=False),
    ]


def _groups() -> list[Group]:
    return [
        Group(OPS_GROUP, "Operations", [CARL, DANA]),
        Group(FINANCE_GROUP, "Finance leads", [ALICE, BOB, MARIA]),
        Group(ALL_LEADS_GROUP, "All leads", [NOAPP], [OPS_GROUP, FINANCE_GROUP]),
        Group(EMPTY_GROUP, "Nobody", []),
    ]


def _conversations() -> list[Conversation]:
    people = [ALICE, BOB, CARL, DANA, MARIA]
    crowd = [f"c40d0000-0000-4000-8000-{n:012x}" for n in range(1, CROWD_SIZE + 1)]
    approvals = Team(
        APPROVALS_TEAM, "Agent approvals", APPROVALS_GROUP, [ALICE, BOB, MARIA, GUEST, GONE]
    )
    ops = Team(OPS_TEAM, "Operations", OPS_TEAM_GROUP, [CARL, DANA])
    everyone = Team(EVERYONE_TEAM, "Everyone", EVERYONE_GROUP, [*people, NOAPP, *crowd])
    no_bot = Team(NO_BOT_TEAM, "No bot", NO_BOT_GROUP, [ALICE], installed=False)
    old = Team(OLD_TEAM, "Old team", OLD_GROUP, [ALICE, BOB], is_archived=True)
    return [
        *(
            Conversation(team.id, "channel", "General", team=team)
            for team in (approvals, ops, everyone, no_bot, old)
        ),
        Conversation(AUDIT, "channel", "Audit", team=approvals),
        Conversation(ARCHIVED, "channel", "Archived", team=approvals, is_archived=True),
        Conversation(SHARED, "channel", "Globex", [ALICE, BOB, SAM], approvals, "shared"),
        Conversation(
            PRIVATE, "channel", "Board", [DANA, ALICE], approvals, "private", installed=False
        ),
        Conversation(ESCALATIONS, "channel", "Escalations", team=ops),
        Conversation(GROUP_CHAT, "groupChat", "Release 7", [ALICE, BOB, DANA]),
        Conversation(EXTERNAL_CHAT, "groupChat", "With Globex", [ALICE, MARIA, SAM]),
        Conversation(NO_BOT_CHAT, "groupChat", "Lunch", [ALICE, CARL], installed=False),
    ]
