"""Teams limits how often the bot may write to a conversation: each has limits of its own."""

from __future__ import annotations

from teams_sandbox.workspace.acme import ALICE, APPROVALS, CARL, OPS
from tests.support.bots import Scene
from tests.support.teams.scene import ask, card
from tests.support.teams.users import TeamsUsers
from tests.support.waiting import wait_until


async def test_a_limited_conversation_holds_up_no_update_of_another_one(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given cards in two channels, and a Teams that refuses all updates in one of them for long; when people
    decide in both, then the other card shows it at once: it waited for the first one."""
    for place in (APPROVALS, OPS):
        await ask(scene, notify=[f"teams:{place}"])
    limited = await card(users, "send_email", conversation=APPROVALS)
    other = await card(users, "send_email", conversation=OPS)
    await scene.all_shown()
    users.sandbox.faults.add("limited", "update", conversation=APPROVALS, retry_after=100)
    await users.press(ALICE, "Approve", limited)
    calls = users.sandbox.connector.calls
    await wait_until("a refused update", lambda: any(one["error"] == "limited" for one in calls))

    await users.press(CARL, "Approve", other)

    await card(users, "approved by", conversation=OPS)
