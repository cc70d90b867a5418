"""The default workspace: a small team, its channels, and one app."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bot.sandbox.workspace import App, Channel, User, Workspace

AGENT = "U0AGENT"
AGENT_BOT = "B0AGENT"
AGENT_NAME = "support-agent"
ASK_CHANNEL = "C0ASK"

DEFAULT_SCOPES = frozenset(
    {
        "channels:history",
        "channels:read",
        "chat:write",
        "groups:history",
        "groups:read",
        "users:read",
    }
)


def acme_app(token: str, signing_secret: str, scopes: Iterable[str] | None = None) -> App:
    return App(token, signing_secret, frozenset(DEFAULT_SCOPES if scopes is None else scopes))


def acme(now: Callable[[], float]) -> Workspace:
    alice, bob, carl, dana, maria = "U0ALICE", "U0BOB", "U0CARL", "U0DANA", "U0MARIA"
    bot, guest = "U0APPROVER", "U0GUEST"
    people = [alice, bob, carl, dana, maria]
    users = [
        User(alice, "alice", "Alice Ng"),
        User(bob, "bob", "Bob Reyes"),
        User(carl, "carl", "Carl Weiss"),
        User(dana, "dana", "Dana Okoye"),
        User(maria, "maria", "Maria Lopez"),
        User(bot, "approver", "approver", is_bot=True),
        User(AGENT, AGENT_NAME, AGENT_NAME, is_bot=True),
        User("U0GONE", "gone", "Gil Gone", deleted=True),
        User(guest, "guest", "Gus Guest", is_restricted=True),
    ]
    channels = [
        Channel("C0ASK", "ask-agent", [*people, bot, AGENT], "Ask the support agent for something"),
        Channel("C0APPROVE", "agent-approvals", [alice, bob, maria, bot], "What agents ask to do"),
        Channel("C0OPS", "team-ops", [carl, dana, bot], "Escalations"),
        Channel("C0EMPTY", "no-bot", [alice], "The app is not in here"),
        Channel("C0OLD", "archived", [alice, bob, bot], is_archived=True),
        Channel("G0BOARD", "board", [dana], "Private", is_private=True),
    ]
    return Workspace("T0ACME", "Acme", users, channels, now)
