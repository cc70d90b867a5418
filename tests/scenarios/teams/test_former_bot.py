"""A new registration of the bot takes over what a former one posted."""

from __future__ import annotations

import pytest

from bot.channels.teams.transport import Reference
from hitl_core.model import Place
from teams_sandbox.workspace.acme import ALICE, BOB
from tests.support.bots import Scene, email, sql
from tests.support.teams.scene import HERE, ask, card, outcome
from tests.support.teams.users import TeamsUsers


@pytest.mark.parametrize("is_reply", [False, True])
async def test_a_channel_card_of_a_former_registration_is_posted_again(
    scene: Scene, users: TeamsUsers, is_reply: bool
) -> None:
    """Given a card that another registration of the bot posted, in a channel or in a thread there, whose
    buttons lead to it; when the review changes, then its card is there again, and can be decided on."""
    await ask(scene, sql())
    root = await card(users, "run_sql")
    place = f"{HERE}/{root.id}" if is_reply else HERE
    reviewers = {"channel_members": True, "quorum": 2}
    waiting = await ask(scene, email(), notify=[place], reviewers=reviewers)
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
    cards = [one for one in shown if one.card and not one.deleted and one is not root]
    assert [one.id for one in cards] == [former.id, newer.id]
    assert former.root == (root.id if is_reply else former.id)
    assert newer.root == (root.id if is_reply else newer.id)


async def test_a_card_in_a_chat_of_a_former_registration_is_posted_in_the_chat_of_today(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given Alice's card in a chat with another registration of the bot, which Teams does not let the bot
    use; when Bob votes, then she has the card in her chat of today, and it is no problem."""
    place = Place(f"teams:{ALICE}")
    people = [place, f"teams:{BOB}"]
    reviewers = {"users": people, "quorum": 2}
    waiting = await ask(scene, email(), notify=people, reviewers=reviewers)
    mine = await card(users, "send_email", conversation=users.chat(ALICE))
    other = await card(users, "send_email", conversation=users.chat(BOB))
    await scene.all_shown()
    gate = await scene.gate()
    [review_id] = await gate.reviews.store.live_ids()
    posted = (await gate.reviews.load(review_id)).posts[place]
    former = posted.model_copy(update={"conversation": "a:former"})
    chat = Reference(id="a:former", kind="personal", service_url=former.service_url, person=ALICE)
    data = chat.model_dump_json().encode()
    await gate.reviews.store.record_post(review_id, place, former, posted)
    await gate.reviews.store.save_channel_value("teams", "conversation:a:former", data)
    mine.deleted = True

    await users.press(BOB, "Approve", other)
    newer = await card(users, "1 of 2", conversation=users.chat(ALICE))
    await users.press(ALICE, "Approve", newer)
    assert len((await outcome(waiting)).execute) == 1
    await scene.all_shown()
    assert not (await gate.reviews.load(review_id)).review.delivery_problems
