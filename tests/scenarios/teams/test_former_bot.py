"""A new registration of the bot takes over what a former one posted."""

from __future__ import annotations

from teams_sandbox.workspace.acme import ALICE, BOB
from tests.support.bots import Scene, email
from tests.support.teams.scene import ask, card, outcome
from tests.support.teams.users import TeamsUsers


async def test_a_channel_card_of_a_former_registration_is_posted_again(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a card that another registration of the bot posted, whose buttons lead to it; when the review
    changes, then its card is there again, and can be decided on."""
    waiting = await ask(scene, email(), reviewers={"channel_members": True, "quorum": 2})
    former = await card(users, "send_email")
    await scene.all_shown()
    former.sender = "28:00000000-0000-4000-8000-00000000000b"
    await users.press(ALICE, "Approve", former)
    newer = await card(users, "send_email", "1 of 2")
    assert newer.id != former.id
    await users.press(BOB, "Approve", newer)
    assert len((await outcome(waiting)).execute) == 1
    await scene.all_shown()
    shown = users.conversation(former.conversation).messages.values()
    assert [one.id for one in shown if one.card and not one.deleted] == [former.id, newer.id]
