"""Promises 10 and 11: Redis or Slack is down, limits calls or refuses them; nothing is lost and people are
told.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin

import aiohttp
import pytest

from bot.app import Timing, running_bot
from bot.refusals import RESULT_UNKNOWN
from bot.settings import Settings
from hitl_core import Outcome, ToolCall
from hitl_core.store.redis.keys import Keys
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.support.bots import CANARY, POLICY, QUICK, Scene, email
from tests.support.slack import APPROVALS, OPS, Message, text_of
from tests.support.waiting import wait_until


async def ready(bot_url: str) -> tuple[int, dict[str, Any]]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(urljoin(bot_url, "/readyz")) as answer,
    ):
        return answer.status, await answer.json()


async def test_promise_11_while_redis_is_down_clicks_are_refused_with_a_sentence(
    scene: Scene, own_redis: Callable[[], EmbeddedRedis]
) -> None:
    """Given a bot whose Redis is killed; when people press and submit, they get an error, and /readyz says
    why; when Redis is back, then the bot continues by itself and the same button works."""
    server = own_redis()
    scene.redis_url = server.url
    bot = await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.alice.press(card, "edit")
    assert (await ready(bot.url))[0] == 200

    server.kill()
    assert (await scene.alice.press(card, "approve"))["ok"]
    assert "Press again" in await scene.alice.last_notice()
    errors = (await scene.alice.submit(copies=3))["errors"]
    assert "Press again" in next(iter(errors.values()))
    status, why = await ready(bot.url)
    assert (status, why["ok"]) == (503, False)
    assert "Redis" in why["why"]

    server.start()
    await wait_until("the bot is ready", lambda: _is_ready(bot.url))
    assert (await scene.alice.submit(copies=3))["ok"]
    outcome = await asyncio.wait_for(waiting, 30)
    assert outcome.execute[0].args["copies"] == 3
    await scene.card("edited and approved by U0ALICE")


async def _is_ready(url: str) -> bool:
    return (await ready(url))[0] == 200


async def test_promise_11_a_redis_that_hangs_is_a_sentence_in_time(
    scene: Scene, own_redis: Callable[[], EmbeddedRedis]
) -> None:
    """T60: Fault R7: given a Redis that is stopped (no error, no answer); when Alice presses, then she is
    told within the 3 s that Slack waits; when it continues and she presses again, then it counts once."""
    server = own_redis()
    scene.redis_url = server.url
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    assert server.pid
    os.kill(server.pid, signal.SIGSTOP)
    try:
        pressed = await scene.alice.press(card, "approve")
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert pressed["ok"]
    assert "Press again" in await scene.alice.last_notice()

    await scene.alice.press_until(waiting.done, card, "approve")
    assert len((await waiting).execute) == 1


async def test_promise_3_a_click_that_could_not_be_stored_fails_where_she_sees_it(
    scene: Scene, own_redis: Callable[[], EmbeddedRedis], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a click that was checked, and a Redis that is killed before it is stored; then she is told that
    the result is unknown; when Redis is back and she presses again, then it counts once."""
    server = own_redis()
    scene.redis_url = server.url
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    go = scene.folder / "go"
    monkeypatch.setenv("HITL_FAILPOINTS", f"bot.before_commit=pause:{go}")
    scene.sandbox.channels.join("C0APPROVE", "U0GINA")  # so the click looks the members up again
    await scene.sandbox.events.wait_delivered()
    before = len(await scene.calls("conversations.members"))
    press = asyncio.create_task(scene.alice.press(card, "approve"))
    await scene.calls("conversations.members", before + 1)
    server.kill()
    go.touch()

    assert (await press)["ok"]
    assert await scene.alice.notices() == [RESULT_UNKNOWN]
    server.start()
    await scene.alice.press_until(waiting.done, card, "approve")
    assert len((await waiting).execute) == 1


async def test_promise_11_redis_goes_away_while_a_card_is_on_its_way(
    scene: Scene, own_redis: Callable[[], EmbeddedRedis], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a card that Slack has taken just when Redis is killed; when Redis is back, then the bot finds its
    message again, keeps it, and its buttons work."""
    server = own_redis()
    scene.redis_url = server.url
    card, waiting, go = await scene.unrecorded_card(monkeypatch)
    server.kill()
    go.touch()
    await scene.alice.press(card, "approve")
    assert "Press again" in await scene.alice.last_notice()
    server.start()

    await scene.alice.press_until(waiting.done, card, "approve")

    assert len((await waiting).execute) == 1
    await scene.card("approved by U0ALICE")
    assert len(await scene.cards()) == 1


@pytest.mark.parametrize("mode", ["ratelimited", "http_500", "ok_but_reset"])
@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
async def test_promise_11_slack_in_trouble_delays_and_loses_nothing(
    scene: Scene, mode: str, method: str
) -> None:
    """T57: Faults S1, S2 and S4: given Slack limiting, failing or losing answers; when three reviews come,
    then their cards appear in order, once each, and show what was decided."""
    await scene.bot()
    gate = await scene.gate()
    await scene.actor.inject_fault(mode, method=method, times=2, retry_after=1)
    waiting: list[asyncio.Task[Outcome]] = []
    redis = await scene.redis()
    for number in (1, 2, 3):
        call = ToolCall(f"c{number}", "note", {"which": f"number {number}", "canary": CANARY})
        waiting.append(scene.ask(gate, call))
        await wait_until("it was submitted", lambda n=number: _has_reviews(redis, n))

    for number in (1, 2, 3):
        card = await scene.card(f"number {number}")
        await scene.alice.press_until(waiting[number - 1].done, card, "approve")
    for number, task in zip((1, 2, 3), waiting, strict=True):
        outcome = await task
        await outcome.finish({f"c{number}": f"result {number}"})
        await scene.card(f"result {number}")

    cards = [text_of(card) for card in await scene.cards()]
    assert len(cards) == 3
    assert [f"result {n}" in card for n, card in zip((1, 2, 3), cards, strict=True)] == [True] * 3


async def _has_reviews(redis: Any, count: int) -> bool:
    return len(await redis.keys("hitl:{0}:review:*")) >= count


async def test_promise_11_a_hanging_slack_leaves_one_message(scene: Scene) -> None:
    """T58: Fault S3: given a post that Slack never answers; when the bot gives up on it, then it looks for
    its message, posts it, and there is one."""
    await scene.bot()
    gate = await scene.gate()
    await scene.actor.inject_fault("hang", method="chat.postMessage", times=1)
    scene.ask(gate, email())

    await scene.card("send_email")
    assert len(await scene.cards()) == 1


async def test_promise_11_a_card_that_slack_refuses_becomes_text(scene: Scene) -> None:
    """Given a card whose blocks Slack refuses; then its sentence is posted in place of it, with the id, and
    that is told; when Slack takes the card, then the message becomes the card."""
    bot = await scene.bot(
        Timing(pace=0.0, lane_lease=0.4, requeue_interval=0.3, timers_interval=0.05)
    )
    gate = await scene.gate()
    await scene.actor.inject_fault("invalid_blocks", method="chat.postMessage", times=1)
    await scene.actor.inject_fault("invalid_blocks", method="chat.update")
    waiting = scene.ask(gate, email())

    text = await scene.card("crm asks to run send_email")
    assert "The full card can't be shown" in text_of(text)

    def is_told() -> bool:
        return any("invalid_blocks" in problem.text for problem in bot.health.current_problems())

    await wait_until("it is told", is_told)

    await scene.actor.inject_fault("ok")
    card = await scene.card("Approve")
    assert card["ts"] == text["ts"]
    await scene.alice.press(card, "approve")
    assert (await waiting).execute
    await wait_until("it is over", lambda: not bot.health.current_problems())


async def test_promise_11_a_dead_letter_delays_no_other_and_can_be_revived(
    scene: Scene,
) -> None:
    """T56: Faults S5 and W4: given a rule that shows its reviews in a channel that does not exist; when
    others come, then their cards appear anyway and /readyz counts what could not be shown; when the channel
    is made, then the card appears by itself."""
    bot = await scene.bot(
        Timing(pace=0.0, lane_lease=0.4, requeue_interval=0.3, timers_interval=0.05)
    )
    policy = POLICY + "  lost: {notify: 'slack:#nowhere'}\n"
    gate = await scene.gate(policy)
    lost = scene.ask(gate, ToolCall("c1", "lost", {"canary": CANARY}))
    other = scene.ask(gate, email())
    await scene.alice.press(await scene.card("send_email"), "approve")
    await other

    async def is_counted() -> bool:
        return (await ready(bot.url))[1].get("undelivered") == 1

    await wait_until("it is counted", is_counted)
    ops = scene.sandbox.workspace.channels[OPS]
    ops.name = "nowhere"
    await scene.dana.press(await scene.card("lost", channel=OPS), "approve")
    assert len((await lost).execute) == 1


async def test_promise_11_a_letter_goes_when_its_review_is_cancelled(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a channel that the bot isn't in; when a review for it is asked and cancelled, then there is one
    dead letter, the log names the place as the cause and not the card, and the letter is removed by
    itself."""
    bot = await scene.bot(
        Timing(pace=0.0, lane_lease=0.4, requeue_interval=0.3, timers_interval=0.05)
    )
    scene.sandbox.workspace.channels[OPS].members.remove("U0APPROVER")
    gate = await scene.gate(POLICY + "  lost: {notify: 'slack:#team-ops'}\n")
    call = ToolCall("c1", "lost", {"canary": CANARY})
    review_id = await gate.submit([call], thread_id="t")

    async def is_counted(count: int) -> bool:
        return (await ready(bot.url))[1].get("undelivered") == count

    await wait_until("it is counted", lambda: is_counted(1))
    assert "the bot is not in this channel" in caplog.text
    assert "posted as text" not in caplog.text

    await gate.cancel(review_id, "not needed")
    await wait_until("it is let go", lambda: is_counted(0))
    await wait_until("it was let go for good", lambda: "is given up" in caplog.text)
    await wait_until("it is still let go", lambda: is_counted(0))


async def test_promise_11_a_slow_channel_delays_no_other(scene: Scene) -> None:
    """Given #team-ops whose posts Slack limits for long; when a review is shown there and in
    #agent-approvals, then the latter's card appears and can be decided."""
    await scene.bot()
    gate = await scene.gate(POLICY + "notify: ['slack:#team-ops', 'slack:#agent-approvals']")
    await scene.actor.inject_fault(
        "ratelimited", method="chat.postMessage", times=1, retry_after=60
    )
    waiting = scene.ask(gate, email())

    def anywhere(state: dict[str, Any]) -> list[Message]:
        return [{**m, "channel": c} for c in (APPROVALS, OPS) for m in state["messages"][c]]

    [card] = await scene.actor.wait_for(anywhere)
    who = scene.alice if card["channel"] == APPROVALS else scene.dana
    await who.press(card, "approve")
    assert len((await waiting).execute) == 1


async def test_a_review_that_this_version_cannot_read_delays_no_other(scene: Scene) -> None:
    """Fault B6: given an entry and a review that a newer version wrote, and one without a review; when
    another review comes, then its card appears, and the unreadable ones are dead letters or removed."""
    gate = await scene.gate()
    redis = await scene.redis()
    odd = f"0-{'e' * 32}"
    await redis.hset(
        f"hitl:{{0}}:review:{odd}", mapping={"version": "1", "data": '{"schema_version": 9}'}
    )
    await redis.zadd("hitl:{0}:live", {odd: 1.0})
    jobs = [f"card {odd} default", f"card 0-{'d' * 32} default", f"newer {odd} default"]
    for member in jobs:
        await redis.zadd(Keys(0).queue("default"), {member: 1e11})
        await redis.zadd(Keys(0).queues, {"default": 0})
    await redis.zadd("hitl:{0}:due", {odd: 1.0, f"0-{'d' * 32}": 2.0})
    bot = await scene.bot()
    scene.ask(gate, email())

    await scene.card("send_email")

    assert (await ready(bot.url))[1].get("undelivered") == 1


async def test_a_card_that_was_queued_before_the_clock_of_redis_was_set_back_is_shown(
    scene: Scene,
) -> None:
    """Given a review that was submitted while no bot ran and Redis's clock was an hour ahead; then a bot
    shows its card at its start, and not when that hour is over."""
    gate = await scene.gate()
    scene.ask(gate, email())
    redis = await scene.redis()
    queue, queues = Keys(0).queue("default"), Keys(0).queues

    async def is_queued() -> bool:
        return bool(await redis.zcard(queue))

    await wait_until("it is queued", is_queued)
    for key in (queue, queues):
        [member] = await redis.zrange(key, 0, -1)
        await redis.zincrby(key, 3600, member)

    await scene.bot()

    await scene.card("send_email")


async def test_an_idle_bot_does_next_to_nothing(scene: Scene) -> None:
    """Given a bot with nothing to do, and a hundred overdue entries that it can't deal with; when some time
    passes, then it has sent few commands to Redis: there is no busy loop."""
    await scene.gate()
    redis = await scene.redis()
    await redis.zadd("hitl:{0}:due", {f"0-{n:032x}": 1.0 for n in range(100)})
    await scene.bot(Timing(pace=0.0, lane_lease=4.0, requeue_interval=60.0, timers_interval=1.0))
    before = (await redis.info("stats"))["total_commands_processed"]
    start = asyncio.get_running_loop().time()

    await wait_until("a second is over", lambda: asyncio.get_running_loop().time() > start + 1.1)

    after = (await redis.info("stats"))["total_commands_processed"]
    assert after - before < 1200  # a tick or two of a hundred reviews, each loaded and refused


async def test_a_bot_ends_cleanly_with_cards_still_waiting(scene: Scene) -> None:
    """Given cards that wait because Slack limits; when the bot ends, then it ends at once, and another bot
    posts them, once each."""
    gate = await scene.gate()
    await scene.actor.inject_fault("ratelimited", method="chat.postMessage", retry_after=2)
    settings = Settings.from_environment(scene.environment())
    async with asyncio.timeout(30), running_bot(settings, QUICK):
        scene.ask(gate, email("c1"))
        scene.ask(gate, ToolCall("c2", "second", {"canary": CANARY}))
        await scene.calls("chat.postMessage", 1)
    await scene.actor.inject_fault("ok")
    await scene.bot()

    await scene.card("send_email")
    await scene.card("second")


async def test_a_refusal_that_reaches_nobody_is_no_success(scene: Scene) -> None:
    """Given a person who may not decide, and a Slack that takes no message; when she presses, then she sees a
    failure and no success; when Slack works again, then she reads why."""
    await scene.bot()
    waiting = scene.ask(await scene.gate(), email())
    card = await scene.card("send_email")
    for method in ("response_url", "chat.postEphemeral"):
        await scene.actor.inject_fault("http_500", method=method)

    assert not (await scene.dana.press(card, "approve"))["ok"]

    await scene.actor.inject_fault("ok")
    assert (await scene.dana.press(card, "approve"))["ok"]
    assert "may decide" in await scene.dana.last_notice()
    assert not waiting.done()
