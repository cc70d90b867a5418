"""Where a review is shown: channels, people, groups and threads, all up to date; and where it goes if a place
can't be reached.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import aiohttp
import pytest

from tests.support.aging import age
from tests.support.bots import POLICY, Scene, email, sql
from tests.support.slack import APPROVALS, OPS, Message, Person, review_of, text_of
from tests.support.waiting import wait_until

ASK = "C0ASK"


def policy(**keys: str) -> str:
    return POLICY + "".join(f"{key}: {value}\n" for key, value in keys.items())


def direct(person: str) -> str:
    """The app's direct messages with somebody."""
    return f"D{person[1:]}"


async def dm(scene: Scene, person: str, *having: str) -> Message:
    return await scene.card(*having, channel=direct(person), viewer=person)


async def rung(scene: Scene, person: str, channel: str) -> list[str]:
    found = await scene.actor.notifications(person)
    return [each["why"] for each in found if each["channel"] == channel]


async def test_a_person_is_asked_in_a_direct_message(scene: Scene) -> None:
    """Given `notify: slack:U0MARIA`; then the card is in Maria's direct messages, notifies her, and only she
    may decide."""
    await scene.bot()
    waiting = scene.ask(await scene.gate(policy(notify="slack:U0MARIA")))
    card = await dm(scene, "U0MARIA", "send_email")
    assert len(await rung(scene, "U0MARIA", card["channel"])) == 1
    assert await scene.cards(APPROVALS) == []

    await scene.person("U0MARIA").press(card, "approve")
    assert (await waiting).execute
    await dm(scene, "U0MARIA", "approved by U0MARIA")


async def test_each_member_of_a_group_gets_a_copy_and_all_stay_in_step(scene: Scene) -> None:
    """Given a group of three, one of whom has left; then the other two have a direct message each; one
    decides, and both copies say so."""
    scene.sandbox.workspace.users["U0BOB"].deleted = True
    await scene.bot()
    waiting = scene.ask(await scene.gate(policy(notify="slack:S0FINANCE")))
    alices = await dm(scene, "U0ALICE", "send_email")
    await dm(scene, "U0MARIA", "send_email")

    await scene.alice.press(alices, "approve")

    assert (await waiting).execute
    for member in ("U0ALICE", "U0MARIA"):
        await dm(scene, member, "approved by U0ALICE")
    assert all(call["args"].get("users") != "U0GONE" for call in scene.sandbox.api.calls)


async def test_a_new_group_member_gets_a_copy_with_the_next_change(scene: Scene) -> None:
    """Given a vote of a group's member; when Dana joined the group meanwhile, then she has a copy, and may
    vote."""
    await scene.bot()
    rule = "{groups: [S0FINANCE], quorum: 2}"
    waiting = scene.ask(await scene.gate(policy(notify="slack:S0FINANCE", reviewers=rule)))
    card = await dm(scene, "U0ALICE", "send_email")
    scene.sandbox.groups.set_members("S0FINANCE", ["U0ALICE", "U0MARIA", "U0DANA"])
    await scene.sandbox.events.wait_delivered()

    await scene.alice.press(card, "approve")

    await scene.dana.press(await dm(scene, "U0DANA", "1 of 2"), "approve")
    assert (await waiting).execute


async def test_several_places_at_once_stay_in_step(scene: Scene) -> None:
    """Given a channel, a person and a group; when somebody decides in one place, then every copy says so."""
    await scene.bot()
    places = '["slack:#team-ops", "slack:U0MARIA", "slack:S0FINANCE"]'
    waiting = scene.ask(await scene.gate(policy(notify=places)))
    await dm(scene, "U0BOB", "send_email")
    await dm(scene, "U0MARIA", "send_email")
    await scene.dana.press(await scene.card("send_email", channel=OPS), "approve")

    assert (await waiting).execute
    await scene.card("approved by U0DANA", channel=OPS)
    for person in ("U0ALICE", "U0BOB", "U0MARIA"):
        await dm(scene, person, "approved by U0DANA")


async def test_the_origin_is_the_thread_in_which_the_agent_was_asked(scene: Scene) -> None:
    """Given `notify: origin` and a submit that names a thread; then the card is in that thread, and those
    of its channel may decide. Without one it is in the default channel."""
    await scene.bot()
    gate = await scene.gate(policy(notify="origin"))
    asked = await scene.actor.say("U0CARL", ASK, "@agent write to Jo")
    waiting = scene.ask(gate, origin=f"slack:{ASK}/{asked['ts']}", requester="U0CARL")
    card = await scene.card("send_email", channel=ASK)
    assert card["thread_ts"] == asked["ts"]

    await scene.carl.press(card, "approve")
    assert (await waiting).execute
    await scene.card("approved by U0CARL", channel=ASK)

    scene.ask(gate, thread_id="without")
    await scene.card("thread “without”", channel=APPROVALS)


async def test_the_card_of_a_thread_that_was_deleted_is_in_its_channel(scene: Scene) -> None:
    """Given an agent that was asked in a message which was deleted before the card was posted, and a post
    whose answer is lost; then Slack has put the card into the channel, and the bot finds it there."""
    await scene.bot()
    gate = await scene.gate(policy(notify="origin"))
    asked = await scene.actor.say("U0CARL", ASK, "@agent write to Jo")
    messages = scene.sandbox.workspace.channels[ASK].messages
    scene.sandbox.workspace.remove(messages[asked["ts"]])
    await scene.actor.inject_fault("ok_but_reset", method="chat.postMessage", times=1)
    waiting = scene.ask(gate, origin=f"slack:{ASK}/{asked['ts']}", requester="U0CARL")
    card = await scene.card("send_email", channel=ASK)
    assert card["thread_ts"] is None
    await scene.wait_noted(gate, card)

    await scene.carl.press(card, "approve")
    assert (await waiting).execute
    await scene.card("approved by U0CARL", channel=ASK)
    assert len([one for one in messages.values() if one.metadata]) == 1


async def test_threads_of_one_channel_share_a_lane(scene: Scene) -> None:
    """Given many reviews, each in a thread of its own; then the bot keeps one queue for their channel."""
    await scene.bot()
    gate = await scene.gate(policy(notify="origin"))
    for number in range(5):
        asked = await scene.actor.say("U0CARL", ASK, f"number {number}")
        scene.ask(gate, origin=f"slack:{ASK}/{asked['ts']}", thread_id=f"n-{number}")
    await scene.actor.wait_for(
        lambda state: sum(bool(m["metadata"]) for m in state["messages"][ASK]) == 5, timeout=30
    )
    redis = await scene.redis()
    assert await redis.zcard("hitl:{0}:queues") <= 1
    assert len(await redis.keys("hitl:lane:*")) <= 1


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("slack:#archived", "there is no channel #archived"),
        ("slack:C0OLD", "the channel is archived"),
        ("slack:C0EMPTY", "the bot is not in this channel"),
        ("slack:#everyone", "1,206 members: the policy must name"),
        ("slack:U0GONE", "nobody can decide on"),
        ("slack:S0OLD", "nobody can decide on"),
    ],
)
async def test_what_can_not_be_shown_goes_to_the_fallback_and_says_why(
    scene: Scene, place: str, why: str
) -> None:
    """Given a place that can't be reached, or in which nobody knows who may decide; then the fallback has
    the review, with the reason, its people decide, and nothing is left undelivered."""
    bot = await scene.bot()
    rules = policy(notify=f'"{place}"', fallback='"slack:#team-ops"')
    waiting = scene.ask(await scene.gate(rules))

    card = await scene.card("send_email", why, channel=OPS)
    await scene.dana.press(card, "approve")

    assert (await waiting).execute
    await scene.all_shown()
    assert await bot.store.count_dead_letters() == 0


async def test_named_reviewers_decide_in_a_channel_of_any_size(scene: Scene) -> None:
    await scene.bot()
    rules = policy(notify='"slack:#everyone"', reviewers="{users: [U0BOB]}")
    waiting = scene.ask(await scene.gate(rules))
    card = await scene.card("send_email", channel="C0ALL")
    await scene.bob.press(card, "approve")
    assert (await waiting).execute


EDITED_INTO_MEMBERS = """
default: review
fallback: "slack:#team-ops"
interrupt_on:
  send_email:
    when: {properties: {copies: {type: integer, maximum: 5}}, required: [copies]}
    allowed_decisions: [approve, edit, reject]
    notify: "slack:#everyone"
    reviewers: {users: [U0BOB]}
  "send_*":
    allowed_decisions: [approve, edit, reject]
    notify: "slack:#everyone"
    reviewers: {channel_members: true, quorum: 2}
"""


async def test_an_edit_gives_no_right_that_a_submit_is_refused(scene: Scene) -> None:
    """Given a card in a channel of any size, for a named person; when they edit the call into a rule whose
    people are the channel's members, then these are too many, as at a submit: they can't vote, and the reason
    is told in the fallback."""
    await scene.bot()
    gate = await scene.gate(EDITED_INTO_MEMBERS)
    review_id = await gate.submit([email()], thread_id="t")
    card = await scene.card("send_email", channel="C0ALL")
    await scene.bob.press(card, "edit")
    await scene.bob.submit(copies=9)
    await scene.card("send_email", "1,206 members: the policy must name", channel=OPS)

    for id in ("U0CROWD0007", "U0CROWD0008"):
        person = Person(scene.actor, id)
        await person.press(await scene.card("send_email", channel="C0ALL"), "approve")
        assert await person.notices()
    [action] = (await gate.reviews.load(review_id)).review.actions
    assert action.is_pending
    assert not [vote for vote in action.votes if vote.by.id.startswith("U0CROWD")]


async def test_where_nobody_is_left_who_may_decide_the_fallback_is_asked(scene: Scene) -> None:
    """Given reviewers who have all left; then the fallback shows it."""
    scene.sandbox.workspace.users["U0BOB"].deleted = True
    await scene.bot()
    rules = policy(fallback='"slack:#team-ops"', reviewers="{users: [U0BOB, U0GONE]}")
    waiting = scene.ask(await scene.gate(rules))
    card = await scene.card("send_email", "nobody can decide on", channel=OPS)
    await scene.dana.press(card, "approve")
    assert (await waiting).execute


async def test_where_the_last_reviewer_leaves_later_the_fallback_is_asked(scene: Scene) -> None:
    """Given a card that waits for Bob; when he has left by the time of the next reminder, then the
    fallback is asked."""
    await scene.bot()
    rules = policy(fallback='"slack:#team-ops"', reviewers="{users: [U0BOB]}", remind="15m")
    gate = await scene.gate(rules)
    scene.ask(gate)
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    scene.sandbox.users.deactivate("U0BOB")
    await scene.sandbox.events.wait_delivered()

    await age(gate.reviews, review_of(card), 900)

    await scene.card("send_email", "nobody can decide on", channel=OPS)


async def test_without_a_fallback_it_waits_and_the_operator_is_told(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    """Given an archived channel and no fallback; then the review waits, /readyz counts it, and the log
    says why. When the channel is back, the next try shows it."""
    bot = await scene.bot()
    gate = await scene.gate(policy(notify='"slack:C0OLD"'))
    waiting = scene.ask(gate)

    async def is_undelivered() -> bool:
        answer = await ready(bot.url)
        return answer["undelivered"] == 1 and "place" in answer["problems"]

    await wait_until("it is counted", is_undelivered)
    assert "the channel is archived" in caplog.text
    assert not waiting.done()

    scene.sandbox.channels.unarchive("C0OLD")
    await bot.store.requeue_dead_letters()
    await scene.alice.press(
        await scene.card("send_email", channel="C0OLD", viewer="U0ALICE"), "approve"
    )
    assert (await waiting).execute
    assert await bot.store.count_dead_letters() == 0
    await scene.all_shown()
    assert (await ready(bot.url))["problems"] == {}


async def ready(url: str) -> dict[str, Any]:
    where = urljoin(url, "/readyz")
    async with aiohttp.ClientSession() as session, session.get(where) as answer:
        return await answer.json()


async def test_one_action_without_a_fallback_is_not_forgotten_beside_one_that_has(
    scene: Scene,
) -> None:
    """Given two calls in one archived channel, of which one rule has a fallback; then that one is moved,
    and the other is counted as undelivered."""
    bot = await scene.bot()
    rules = """
default: review
interrupt_on:
  send_email: {notify: "slack:C0OLD", fallback: "slack:#team-ops"}
  run_sql: {notify: "slack:C0OLD"}
"""
    scene.ask(await scene.gate(rules), email("c1"), sql("c2"))
    moved = text_of(await scene.card("send_email", channel=OPS))
    assert "run_sql" not in moved

    async def has_dead_letter() -> bool:
        return await bot.store.count_dead_letters() == 1

    await wait_until("the other one is counted", has_dead_letter)
