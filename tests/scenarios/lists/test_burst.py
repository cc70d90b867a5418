"""Many reviews at once in one channel: their cards appear in order, at the rate that Slack allows, also if
bots die.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.app import Timing
from bot.outbox import outbox
from hitl_core import ToolCall
from hitl_core.store.redis.keys import Keys
from tests.support.bots import POLICY, Process, Scene, email
from tests.support.slack import APPROVALS, OPS, review_of
from tests.support.waiting import wait_until

#: Slack's minute takes three seconds, and so does the bots'.
SCALE = 20.0
PACE, IDLE = 1 / SCALE, 2.0
#: One person can't settle it, so its card stays open.
CANT_SETTLE = POLICY.replace(
    "default: review", "default: review\nreviewers: {channel_members: true, quorum: 2}"
)


async def bot_with_pace(scene: Scene) -> Process:
    """As in production, except its pace."""
    arguments = (str(PACE), str(IDLE))
    bot = await scene.process(
        "benchmarks.programs.paced_bot", *arguments, env=scene.environment(HITL_DIGEST_AFTER="0")
    )
    await bot.listening()
    return bot


def of(scene: Scene, method: str) -> list[dict[str, Any]]:
    return [call for call in scene.sandbox.api.calls if call["method"] == method]


async def has_cards(scene: Scene, count: int) -> bool:
    return len(await scene.cards()) >= count


async def test_a_burst_goes_on_in_order_when_bots_die(scene: Scene) -> None:
    """Given sixty reviews for one channel, Slack's limits and two bots, of which
    one is killed and then the other; then each card is shown once, in the order of submission, few calls are
    refused, and for each dead bot there is one search for its lost post."""
    scene.limit(SCALE)
    bots = [await bot_with_pace(scene), await bot_with_pace(scene)]
    gate = await scene.gate()
    submitted = [
        await gate.submit([ToolCall("c1", "note", {"n": n})], thread_id=f"t-{n}") for n in range(60)
    ]
    for number, shown in enumerate((10, 30)):
        await wait_until(f"{shown} cards", lambda s=shown: has_cards(scene, s), 120)
        await bots[number].kill()
        bots.append(await bot_with_pace(scene))

    await wait_until("all cards", lambda: has_cards(scene, 60), 120)

    cards = sorted(await scene.cards(), key=lambda card: card["ts"])
    assert [review_of(card) for card in cards] == submitted
    posts = of(scene, "chat.postMessage")
    assert sum(call["error"] == "ratelimited" for call in posts) <= 6
    assert len(of(scene, "conversations.history")) <= 2


async def test_what_people_decided_is_shown_while_others_wait_to_be_posted(
    scene: Scene,
) -> None:
    """Given a channel whose posts Slack limits for long; when a card that is shown there
    is decided, then the card shows it, although other cards wait."""
    await scene.bot(Timing(pace=0.0, lane_lease=2.0, requeue_interval=60.0, timers_interval=0.05))
    gate = await scene.gate()
    scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.all_shown()
    await scene.actor.inject_fault("ratelimited", method="chat.postMessage", retry_after=60)
    for number in range(5):
        scene.ask(gate, email(), thread_id=f"waits-{number}")
    await scene.calls("chat.postMessage", 2)

    await scene.alice.press(card, "approve")

    await scene.card("approved by U0ALICE")
    assert len(await scene.cards()) == 1


async def test_a_line_that_waits_for_a_limit_holds_up_no_update(scene: Scene) -> None:
    """Given a Slack that takes no posts in a channel for long, and an escalation that is told in the thread
    of its card there; when somebody decides on it, then the card shows it at once: its update waited for the
    line. The line comes later."""
    gate = await scene.gate(
        POLICY.replace(
            "  send_email:\n", "  send_email:\n    escalate: [{after: 1s, to: 'slack:#team-ops'}]\n"
        )
    )
    await scene.bot()
    scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.all_shown()
    await scene.actor.inject_fault("ratelimited", method="chat.postMessage", retry_after=100)
    await scene.card("Escalated to #team-ops")

    await scene.alice.press(card, "approve")

    await scene.card("send_email approved", timeout=20)
    redis = await scene.redis()
    queue = await redis.zrange(Keys(0).queue("default"), 0, -1)
    assert f"later-card {review_of(card)} default".encode() in queue


async def test_conversations_that_wait_for_a_limit_take_no_place_from_others(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a bot that works on one conversation at a time, in which Slack limits updates for long; then a
    card for another one is shown at once: it waited until the updates were done, of very many conversations
    for minutes."""
    monkeypatch.setattr(outbox, "MAX_LANES", 1)
    await scene.bot()
    gate = await scene.gate()
    scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.all_shown()
    await scene.actor.inject_fault("ratelimited", method="chat.update", retry_after=100)
    await scene.alice.press(card, "approve")
    await scene.calls("chat.update")

    elsewhere = POLICY.replace("default: review", f"default: review\nnotify: slack:{OPS}")
    scene.ask(await scene.gate(elsewhere), email())

    await scene.card("send_email", channel=OPS)


async def test_a_look_that_slack_stops_goes_on_where_it_was(scene: Scene) -> None:
    """Given a channel with four pages of messages, a post whose answer is lost, and a
    Slack that limits the search for it after the first page; then no page is read twice, and there is one
    message."""
    await scene.bot()
    gate = await scene.gate()
    for number in range(650):
        await scene.actor.say("U0ALICE", APPROVALS, f"talk {number}")
    await scene.actor.inject_fault("ok_but_reset", method="chat.postMessage", times=1)
    pages = scene.sandbox.api.calls

    def history() -> list[dict[str, Any]]:
        return [call for call in pages if call["method"] == "conversations.history"]

    async def limit_rate() -> None:
        await wait_until("the first page", history)
        await scene.actor.inject_fault(
            "ratelimited", method="conversations.history", times=1, retry_after=1
        )

    limiting = asyncio.create_task(limit_rate())
    scene.ask(gate, email())
    await scene.card("send_email")
    await limiting

    def pages_of_first_look() -> list[str]:
        return [call["args"].get("cursor", "") for call in history() if call["error"] is None]

    await wait_until("four pages", lambda: len(pages_of_first_look()) >= 4)
    first_look = pages_of_first_look()
    assert first_look[:4] == ["", "page:200", "page:400", "page:600"]


async def test_a_press_on_a_stale_card_has_it_drawn_again(scene: Scene) -> None:
    """Given a card that a late, older drawing replaced; when somebody presses on it,
    then they are told that it was changed, and the card is drawn in its current state."""
    await scene.bot()
    gate = await scene.gate(CANT_SETTLE)
    scene.ask(gate, email())
    old = await scene.card("send_email")
    await scene.alice.press(old, "edit")
    await scene.alice.submit(copies=7)
    await scene.card("edited by")
    await scene.all_shown()
    await scene.draw_again(old)
    stale = await scene.card("send_email")

    await scene.bob.press(stale, "approve")

    assert "in the meantime" in await scene.bob.last_notice()
    new = await scene.card("edited by")
    await scene.bob.press(new, "approve")
    [action] = (await gate.reviews.load(review_of(new))).review.actions
    assert [vote.by.id for vote in action.votes] == ["U0BOB"]


async def test_a_press_on_a_second_card_deletes_it(scene: Scene) -> None:
    """Given a card that a late request posted a second time, with an old state; when
    somebody presses on it, then they are told, and it is deleted; the one that is noted stays."""
    await scene.bot()
    gate = await scene.gate(CANT_SETTLE)
    scene.ask(gate, email())
    old = await scene.card("send_email")
    await scene.alice.press(old, "edit")
    await scene.alice.submit(copies=7)
    await scene.all_shown()
    ref = await scene.post_again(old)
    [second] = [card for card in await scene.cards() if card["ts"] == ref.ts]

    await scene.bob.press({**second, "channel": APPROVALS}, "approve")

    assert "in the meantime" in await scene.bob.last_notice()

    async def one_is_left() -> bool:
        return [card["ts"] for card in await scene.cards()] == [old["ts"]]

    await wait_until("the second one is deleted", one_is_left)


async def test_a_press_that_counts_leaves_no_second_card_with_buttons(scene: Scene) -> None:
    """Given a second message of one card, as a late post leaves one; when Alice approves on it, then it
    counts, and that message is deleted."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    await scene.all_shown()
    ref = await scene.post_again(card)
    [second] = [one for one in await scene.cards() if one["ts"] == ref.ts]

    await scene.alice.press({**second, "channel": APPROVALS}, "approve")

    async def one_is_left() -> bool:
        return [one["ts"] for one in await scene.cards()] == [card["ts"]]

    await wait_until("the second one is deleted", one_is_left)
    assert len((await waiting).execute) == 1
