"""A backlog in Teams: one message. A person who opens it sees its reviews in place of it."""

from __future__ import annotations

import json

import pytest

from bot.inbox import OpenViews
from hitl_core.model import MessageRef
from teams_sandbox.workspace import Message
from teams_sandbox.workspace.acme import ALICE, APPROVALS, DANA
from tests.scenarios.teams.test_open_views import is_recorded, wait_postponed
from tests.support.bots import CANARY, Scene, email
from tests.support.teams.scene import POLICY
from tests.support.teams.users import TeamsUsers, actions
from tests.support.waiting import wait_until

COUNT = 7


@pytest.fixture
def bot_settings() -> dict[str, str]:
    return {"HITL_DIGEST_AFTER": "3"}


async def digest(users: TeamsUsers, words: str) -> Message:
    return await users.message(words, conversation=APPROVALS)


async def test_teams_a_backlog_is_opened_one_by_one(scene: Scene, users: TeamsUsers) -> None:
    """Given seven reviews while Teams limits the bot, then most of them share a message; when Alice opens it,
    approves and rejects, then each is decided, and the next one follows; when she goes back to the message,
    then the count has gone down; and a person who may not decide sees none of it."""
    users.sandbox.faults.add("limited", "post", times=1)
    gate = await scene.gate(json.dumps(POLICY))
    ids = [await gate.submit([email(f"c{n}")], thread_id=f"t-{n}") for n in range(COUNT)]
    message = await digest(users, "reviews wait")
    await wait_until("each has its message", lambda: has_posts(scene, ids))
    in_digest = [one for one in ids if await post_of(scene, one) == message.id]
    assert len(in_digest) >= 5
    assert "Approve" not in actions(message.card)

    seen = await users.press(ALICE, "Review one by one", message)
    assert f"1 of {len(in_digest)} reviews that wait" in seen
    assert CANARY in seen
    seen = await users.press(ALICE, "Approve", message)
    assert "reviews that wait" in seen
    first = (await gate.reviews.load(in_digest[0])).review
    assert first.status == "settled"
    await users.press(ALICE, "Reject", message)
    seen = await users.submit(ALICE, message, "No.")
    assert "reviews that wait" in seen
    left = len(in_digest) - 2
    assert ALICE in message.cards
    assert "reviews wait" in await users.press(ALICE, "Close", message)
    message = await digest(users, f"{left} of {len(in_digest)} reviews wait")
    refused = await users.press(DANA, "Review one by one", message)
    assert CANARY not in refused


async def test_teams_new_reviews_of_an_open_digest_are_not_shown_before_its_update(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a digest that Alice has opened; when more reviews come into it, then they have no message until
    hers is closed: nobody sees them, and their clocks don't run."""
    users.sandbox.faults.add("limited", "post", times=1)
    gate = await scene.gate(json.dumps(POLICY))
    ids = [await gate.submit([email(f"c{n}")], thread_id=f"t-{n}") for n in range(COUNT)]
    message = await digest(users, "reviews wait")
    await wait_until("each has its message", lambda: has_posts(scene, ids))
    await users.press(ALICE, "Review one by one", message)
    await wait_until("her view is recorded", lambda: is_recorded(scene, ALICE))
    users.sandbox.faults.add("limited", "post", times=1)
    new = [await gate.submit([email(f"n{n}")], thread_id=f"n-{n}") for n in range(COUNT)]
    await wait_postponed(scene, "digest")
    waiting = [one for one in new if await digest_of(scene, one)]
    assert waiting
    assert not any([await post_of(scene, one) for one in waiting])
    await users.press(ALICE, "Close", message)
    await wait_until("each has its message", lambda: has_posts(scene, new))


async def test_teams_a_digest_is_drawn_only_for_people_who_may_decide(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a digest; when a person who left its channel sends the data of its button, as a press or as Teams
    asks for the card again, then they see none of it."""
    users.sandbox.faults.add("limited", "post", times=1)
    gate = await scene.gate(json.dumps(POLICY))
    ids = [await gate.submit([email(f"c{n}")], thread_id=f"t-{n}") for n in range(COUNT)]
    message = await digest(users, "reviews wait")
    await wait_until("each has its message", lambda: has_posts(scene, ids))
    data = actions(message.card)["Review one by one"]["data"]

    async def ask(person: str, trigger: str) -> str:
        pressed = {"type": "Action.Execute", "verb": "", "data": data}
        activity = users.activity(
            person,
            APPROVALS,
            type="invoke",
            name="adaptiveCard/action",
            replyToId=message.id,
            value={"action": pressed, "trigger": trigger},
        )
        return json.dumps(await users.send(activity))

    assert CANARY in await ask(ALICE, "automatic")
    for trigger in ("manual", "automatic"):
        refused = await ask(DANA, trigger)
        assert CANARY not in refused
        assert "Only members" in refused


async def test_teams_who_decides_last_can_close_the_digest(scene: Scene, users: TeamsUsers) -> None:
    """Given a digest; when Alice decides on all of it and closes it, then nobody has it open, and its message
    says at once that nothing waits: it said for a minute that reviews wait, because "Close" was refused."""
    users.sandbox.faults.add("limited", "post", times=1)
    gate = await scene.gate(json.dumps(POLICY))
    ids = [await gate.submit([email(f"c{n}")], thread_id=f"t-{n}") for n in range(COUNT)]
    message = await digest(users, "reviews wait")
    await wait_until("each has its message", lambda: has_posts(scene, ids))
    seen = await users.press(ALICE, "Review one by one", message)
    for one in ids:
        if await post_of(scene, one) == message.id:
            seen = await users.press(ALICE, "Approve", message)
    assert seen == "Your decision is stored."

    await users.press(ALICE, "Close", message)

    ref = MessageRef(channel="teams", conversation=APPROVALS, ts=message.id)
    assert await OpenViews(gate.reviews).postpone(ref) == 0.0
    await digest(users, "waits here any more")


async def has_posts(scene: Scene, ids: list[str]) -> bool:
    return all([await post_of(scene, one) for one in ids])


async def digest_of(scene: Scene, review_id: str) -> bool:
    """Whether the review is in a digest."""
    gate = await scene.gate()
    marks = (await gate.reviews.load(review_id)).marks
    return any(one.startswith("digest:") for one in marks)


async def post_of(scene: Scene, review_id: str) -> str:
    gate = await scene.gate()
    posts = (await gate.reviews.load(review_id)).posts
    return next((ref.ts for ref in posts.values()), "")
