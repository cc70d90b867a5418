"""The default workspace: a small team, its guests, its channels, and one app."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .objects import App, Channel, Group, User
from .workspace import Workspace

AGENT = "U0AGENT"
AGENT_BOT = "B0AGENT"
AGENT_NAME = "support-agent"
APPROVER = "U0APPROVER"
ASK_CHANNEL = "C0ASK"
CROWD_SIZE = 1200

# The same as in manifest.yml; a test compares them.
DEFAULT_SCOPES = frozenset(
    {
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "usergroups:read",
        "users:read",
    }
)
DEFAULT_EVENTS = frozenset(
    {
        "app_home_opened",
        "app_uninstalled",
        "channel_archive",
        "channel_id_changed",
        "channel_rename",
        "group_archive",
        "group_rename",
        "member_joined_channel",
        "member_left_channel",
        "subteam_members_changed",
        "subteam_updated",
        "tokens_revoked",
        "user_change",
    }
)
DEFAULT_COMMANDS = frozenset({"/approvals"})


def acme_app(token: str, signing_secret: str, scopes: Iterable[str] | None = None) -> App:
    allowed = frozenset(DEFAULT_SCOPES if scopes is None else scopes)
    return App(token, signing_secret, allowed, DEFAULT_EVENTS, DEFAULT_COMMANDS)


def acme(now: Callable[[], float]) -> Workspace:
    return Workspace("T0ACME", "Acme", _users(), _channels(), now, groups=_groups(), crowd=_crowd())


def _users() -> list[User]:
    return [
        User("U0ALICE", "alice", "Alice Ng"),
        User("U0BOB", "bob", "Bob Reyes"),
        User("U0CARL", "carl", "Carl Weiss"),
        User("U0DANA", "dana", "Dana Okoye", is_admin=True, is_owner=True),
        User("U0MARIA", "maria", "Maria Lopez"),
        User(APPROVER, "approver", "approver", is_bot=True, bot_id="B0APPROVER"),
        User(AGENT, AGENT_NAME, AGENT_NAME, is_bot=True, bot_id=AGENT_BOT),
        User("U0GONE", "gone", "Gil Gone", deleted=True),
        User("U0GUEST", "guest", "Gus Guest", is_restricted=True),
        User("U0GINA", "gina", "Gina Gast", is_restricted=True),
        User("U0SOLO", "solo", "Sol Solo", is_restricted=True, is_ultra_restricted=True),
        User("U0SAM", "sam", "Sam Strange", team_id="T0GLOBEX"),
    ]


def _crowd() -> list[User]:
    return [
        User(f"U0CROWD{n:04}", f"crowd{n}", f"Crowd Member {n}") for n in range(1, CROWD_SIZE + 1)
    ]


def _groups() -> list[Group]:
    return [
        Group("S0OPS", "ops", "Operations", ["U0CARL", "U0DANA"]),
        Group("S0FINANCE", "finance-leads", "Finance leads", ["U0ALICE", "U0BOB", "U0MARIA"]),
        Group("S0OLD", "old-team", "The old team", ["U0BOB"], disabled=True),
    ]


def _channels() -> list[Channel]:
    alice, bob, carl, dana, maria = "U0ALICE", "U0BOB", "U0CARL", "U0DANA", "U0MARIA"
    people, bot = [alice, bob, carl, dana, maria], APPROVER
    crowd = [user.id for user in _crowd()]
    return [
        Channel("C0ASK", "ask-agent", [*people, bot, AGENT], "Ask the support agent for something"),
        Channel("C0APPROVE", "agent-approvals", [alice, bob, maria, bot], "What agents ask to do"),
        Channel("C0OPS", "team-ops", [carl, dana, bot], "Escalations"),
        Channel("C0EMPTY", "no-bot", [alice], "The app is not in here"),
        Channel("C0ALL", "everyone", [*people, bot, *crowd], "The whole company"),
        Channel("C0GUESTS", "guests", [alice, "U0GINA", "U0SOLO", bot], "With our guests"),
        Channel(
            "C0SHARED",
            "shared-globex",
            [alice, bob, "U0SAM", bot],
            "With people of Globex",
            is_ext_shared=True,
        ),
        Channel("C0OLD", "archived", [alice, bob, bot], is_archived=True),
        Channel("D0PAIR", "directmessage", [alice, bob], is_private=True, is_im=True),
        Channel("G0BOARD", "board", [dana], "Private", is_private=True),
        Channel("G0FINANCE", "finance", [alice, bob, maria, bot], "Private", is_private=True),
    ]
