"""Several bots: each with both roles, or one role each; and restarts while people click."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from urllib.parse import urljoin

import aiohttp

from bot.app import Timing, running_bot
from bot.settings import Settings
from tests.support.bots import Process, Scene, duplicate_cards, email
from tests.support.processes.balancer import Balancer, balancer
from tests.support.slack import APPROVALS, Message, review_of
from tests.support.waiting import wait_until

#: SIGTERM to the end, in seconds: what Kubernetes gives by default.
IN_TIME = 30.0


async def status(url: str, path: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(urljoin(url, path)) as answer:
        return answer.status


async def has_cards(scene: Scene, count: int) -> bool:
    return len(await scene.cards()) == count


async def replica(scene: Scene, among: Balancer) -> Process:
    """A bot that the balancer has seen ready."""
    bot = await scene.bot_process()
    among.add(bot.url)
    scene.sandbox.bot_url = among.url
    await wait_until("the balancer sees it", lambda: among.is_ready(bot.url))
    return bot


async def stop_time(bot: Process) -> float:
    """SIGTERM it; how long it took to end by itself, in seconds."""
    began = time.monotonic()
    bot.signal(signal.SIGTERM)
    assert await bot.wait_end() == 0, bot.output
    assert "ERROR" not in bot.output, bot.output
    return time.monotonic() - began


async def test_promise_3_a_rolling_restart_fails_no_click(scene: Scene) -> None:
    """Fault B6: given two bots behind a load balancer, one person who opens forms all the time and one who
    decides; when the bots are replaced one by one, then no click fails, and each bot ends within its time."""
    async with balancer() as among:
        old = [await replica(scene, among) for _ in range(2)]
        gate = await scene.gate()
        runs = [scene.ask(gate, email()) for _ in range(4)]
        await wait_until("four cards", lambda: has_cards(scene, 4), 20)
        first, *rest = [{**card, "channel": APPROVALS} for card in await scene.cards()]
        opened: list[bool] = []
        replaced = asyncio.Event()

        async def open_forms() -> None:
            while not replaced.is_set():
                opened.append((await scene.bob.press(first, "edit"))["ok"])

        async def decide(card: Message) -> bool:
            seen = len(opened)
            answer = await scene.alice.press(card, "approve")
            await wait_until("others click meanwhile", lambda: len(opened) > seen + 8)
            return answer["ok"]

        opening = asyncio.create_task(open_forms())
        took: list[float] = []
        for bot, card in zip(old, rest, strict=False):
            await replica(scene, among)
            stopping = asyncio.create_task(stop_time(bot))
            assert await decide(card)
            took.append(await stopping)
        assert await decide(rest[-1])
        replaced.set()
        await opening
        assert (await scene.alice.press(first, "approve"))["ok"]

        assert all(opened), f"{opened.count(False)} of {len(opened)} failed"
        assert all(outcome.execute for outcome in await asyncio.gather(*runs))
        assert max(took) < IN_TIME
        assert len(among.served) == 4, "each of them had its share"
    assert duplicate_cards(scene.sandbox) == []


async def test_a_bot_that_must_stop_is_not_ready_and_still_serves(scene: Scene) -> None:
    """Given SIGTERM; then probes send people elsewhere, while who comes anyway is served."""
    bot = await scene.bot_process()
    gate = await scene.gate()
    run = scene.ask(gate, email())
    card = await scene.card("send_email")
    assert await status(bot.url, "/readyz") == 200

    bot.signal(signal.SIGTERM)
    await wait_until("it is not ready", lambda: _is(bot, "/readyz", 503))
    assert await status(bot.url, "/healthz") == 200
    assert (await scene.alice.press(card, "approve"))["ok"]

    assert (await run).execute
    assert await bot.wait_end() == 0


async def _is(bot: Process, path: str, wanted: int) -> bool:
    return await status(bot.url, path) == wanted


async def test_ctrl_c_does_not_wait_for_a_load_balancer(scene: Scene) -> None:
    """Given a person at a terminal; then the bot just ends, without a time in which it is not ready."""
    bot = await scene.bot_process()
    bot.signal(signal.SIGINT)
    seen: set[int] = set()
    with suppress(aiohttp.ClientError):
        while True:
            seen.add(await status(bot.url, "/readyz"))
    assert seen <= {200}
    assert await bot.wait_end() == 0


async def test_promise_3_a_click_that_is_under_way_at_sigterm_is_answered(scene: Scene) -> None:
    """Given a click that is being stored when SIGTERM comes, twice; then it is answered, and counts."""
    go = scene.folder / "go"
    bot = await scene.bot_process(f"bot.before_commit=pause:{go}")
    gate = await scene.gate()
    run = scene.ask(gate, email())
    card = await scene.card("send_email")
    pressing = asyncio.create_task(scene.alice.press(card, "approve"))
    await scene.wait_deliveries(1)

    bot.signal(signal.SIGTERM)
    await wait_until("it is not ready", lambda: _is(bot, "/readyz", 503))
    bot.signal(signal.SIGTERM)
    go.touch()

    assert (await pressing)["ok"]
    assert (await run).execute
    assert await bot.wait_end() == 0


async def test_promise_4_a_post_that_is_under_way_at_sigterm_is_noted(scene: Scene) -> None:
    """Given a bot that has just posted when SIGTERM comes; then it notes where, and leaves nothing behind."""
    go = scene.folder / "go"
    bot = await scene.bot_process(f"outbox.after_card=pause:{go}", "--only", "workers")
    gate = await scene.gate()
    scene.ask(gate, email())
    card = await scene.card("send_email")

    bot.signal(signal.SIGTERM)
    go.touch()

    assert await bot.wait_end() == 0
    assert (await gate.reviews.load(review_of(card))).posts
    redis = await scene.redis()
    assert await redis.keys("hitl:lane:*") == [], "it holds no conversation any more (faults 11)"
    assert await redis.hlen("hitl:{0}:changes") == 0


async def test_promise_4_what_a_leaving_bot_had_not_begun_another_has_at_once(scene: Scene) -> None:
    """Given a bot that has begun its second card; when it leaves, then another bot shows that card, long
    before it would take the first bot for dead."""
    slow = Timing(pace=3.0, lane_lease=60.0, requeue_interval=60.0, timers_interval=0.05)
    gate = await scene.gate()
    redis = await scene.redis()

    async def has_begun() -> bool:
        return await redis.hlen("hitl:{0}:starts") > 0

    async with running_bot(Settings.from_environment(scene.environment()), slow):
        scene.ask(gate, email("c1"))
        await scene.card("send_email")
        await scene.all_shown()
        scene.ask(gate, email("c2"))  # has to wait for its pace
        await wait_until("the first bot has it", has_begun)
    await scene.bot(slow)
    await wait_until("both cards", lambda: has_cards(scene, 2))
    assert duplicate_cards(scene.sandbox) == []


async def test_each_half_does_its_own(scene: Scene) -> None:
    """Given one process for clicks and one that posts; then together they are a bot, and apart each lacks the
    other's half."""
    http = await scene.bot_process("", "--only", "http")
    gate = await scene.gate()
    run = scene.ask(gate, email())
    workers = await scene.bot_process("", "--only", "workers")
    card = await scene.card("send_email")
    assert await status(workers.url, "/readyz") == 200
    async with aiohttp.ClientSession() as session, session.post(workers.url) as answer:
        assert answer.status == 404, "the workers answer no clicks"

    scene.sandbox.bot_url = http.url
    assert (await scene.alice.press(card, "approve"))["ok"]
    assert (await run).execute
    await scene.card("approved by U0ALICE")

    assert await stop_time(workers) < 3.0, "nobody clicks there: nothing to wait for"
    scene.ask(gate, email("c9"))
    await gate.reviews.store.now()
    assert len(await scene.cards()) == 1, "who answers clicks posts nothing"


async def test_only_takes_a_half_that_there_is(scene: Scene) -> None:
    bot = await scene.process("bot", "serve", "--only", "https", env=scene.environment())
    assert await bot.wait_end() == 2
    assert "invalid choice: 'https'" in bot.output


async def test_cards_that_slack_holds_up_slow_no_click(scene: Scene) -> None:
    """T74: given a process for clicks, and one for cards of which Slack takes none; then clicks work."""
    await scene.bot_process("", "--only", "workers")
    http = await scene.bot_process("", "--only", "http")
    scene.sandbox.bot_url = http.url
    gate = await scene.gate()
    run = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.actor.inject_fault("ratelimited", method="chat.postMessage", retry_after=60)
    for _ in range(50):
        scene.ask(gate, email())

    assert (await scene.alice.press(card, "approve"))["ok"]
    assert (await run).execute
