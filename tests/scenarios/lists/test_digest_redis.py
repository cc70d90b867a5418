"""Digests while Redis is down for a while, or contains a review that can't be read."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis

from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.scenarios.lists.test_digest import COUNT, FEW, digest_of, has_cards, is_counted, submit
from tests.support.bots import CANARY, POLICY, Scene
from tests.support.slack import APPROVALS, OPS
from tests.support.waiting import wait_until

DEADLINE = "clock: delivered\nexpire: {after: 3s, decision: reject}"


def damage(url: str, review_id: str) -> None:
    """As if a newer version of this program had written it."""
    with redis.Redis.from_url(url) as client:
        [key] = client.scan_iter(f"*:review:{review_id}")
        client.hset(key, "data", '{"schema_version":99,"newer":1}')


@pytest.mark.parametrize("point", ["outbox.before_digest", "outbox.after_digest_record"])
async def test_redis_away_loses_nothing_of_a_digest(
    scene: Scene,
    own_redis: Callable[[], EmbeddedRedis],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    point: str,
) -> None:
    """Given a Redis that is away, for longer than is tried, before a digest is posted, or before its reviews
    have its message; then there is one message, each review has it, and their deadlines run."""
    server = own_redis()
    scene.redis_url = server.url
    gate = await scene.gate(POLICY.replace("default: review", f"default: review\n{DEADLINE}"))
    ids = await submit(gate)
    go = scene.folder / "go"
    monkeypatch.setenv("HITL_FAILPOINTS", f"{point}=pause:{go}")
    await scene.bot(**FEW)

    async def is_there() -> bool:
        with redis.Redis.from_url(server.url) as client:
            keys = list(client.scan_iter("*:digest:*"))
            return bool(keys) and (
                point == "outbox.before_digest" or client.hexists(keys[0], "post")
            )

    await wait_until("the digest", is_there)
    server.kill()
    go.touch()

    async def gave_up() -> bool:
        return any("must wait" in one or "can't be" in one for one in caplog.messages)

    await wait_until("the bot knows", gave_up, 60)
    server.start()

    async def all_ended() -> bool:
        loaded = [await gate.reviews.load(one) for one in ids]
        return all(one.review.actions[0].decision for one in loaded)

    await wait_until("each has its message", lambda: is_counted(gate, ids), 60)
    await wait_until("their deadlines", all_ended, 60)
    assert await has_cards(scene, 1)


@pytest.mark.parametrize("after", ["0", "4"])
async def test_a_review_that_can_not_be_read_stops_no_other(scene: Scene, after: str) -> None:
    """Given a backlog with one review of a newer version of this program; then the others are shown, and that
    one is a dead letter."""
    gate = await scene.gate()
    bad, *ids = await submit(gate, COUNT + 1)
    damage(scene.redis_url, bad)
    bot = await scene.bot(HITL_DIGEST_AFTER=after)
    await wait_until("each has its message", lambda: is_counted(gate, ids))

    async def is_dead() -> bool:
        return [one.review_id for one in await bot.store.dead_letters()] == [bad]

    await wait_until("the dead letter", is_dead)
    assert await has_cards(scene, 1 if after == "4" else COUNT)


async def test_a_digest_with_a_review_that_can_not_be_read(scene: Scene) -> None:
    """Given a digest of which the first review becomes unreadable; then the others can be opened and decided,
    and its message counts them."""
    gate = await scene.gate()
    ids = await submit(gate)
    await scene.bot(**FEW)
    digest = await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.all_shown()
    damage(scene.redis_url, ids[0])
    await scene.alice.press(digest, "review")
    for _ in ids[1:]:
        view = await scene.actor.view(scene.alice.id)
        assert view
        assert CANARY in str(view["blocks"])
        assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]
    await digest_of(scene, 1, COUNT)


async def test_an_unreadable_review_leaves_a_digest_before_its_first_post(
    scene: Scene,
) -> None:
    """Given a digest without a message, of which one review becomes unreadable; then the others are shown in
    it, and that one is a dead letter."""
    gate = await scene.gate()
    ids = await submit(gate)
    bot = await scene.bot_process("outbox.before_digest=kill", **FEW)
    assert await bot.wait_end() == -9
    damage(scene.redis_url, ids[0])
    other = await scene.bot(**FEW)
    await digest_of(scene, COUNT - 1, COUNT)

    async def is_dead() -> bool:
        return [one.review_id for one in await other.store.dead_letters()] == ids[:1]

    await wait_until("the dead letter", is_dead)


async def test_a_held_review_says_so_on_a_card(scene: Scene) -> None:
    """Given a digest; when Redis lost writes, so that its reviews are held; then each has a card that
    says so, and the digest has nothing left to open."""
    gate = await scene.gate()
    ids = await submit(gate)
    bot = await scene.bot(**FEW)
    await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.all_shown()
    await bot.store.hold_live_reviews()
    await wait_until("a card for each", lambda: has_cards(scene, COUNT + 1), 60)
    await scene.card("waits here any more")


async def test_what_joins_a_digest_in_an_archived_channel_takes_its_fallback(
    scene: Scene,
) -> None:
    """Given a digest in a channel that is archived then; when more reviews come for it, then they are shown
    in their fallback, as their cards would be."""
    gate = await scene.gate(
        POLICY.replace(
            "default: review",
            "default: review\nnotify: 'slack:#team-ops'\nfallback: 'slack:#agent-approvals'",
        )
    )
    ids = await submit(gate)
    bot = await scene.bot(**FEW)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.all_shown()
    assert bot.workers
    await bot.workers.outbox.drain()
    scene.sandbox.workspace.channels[OPS].is_archived = True
    more = await submit(gate, COUNT, 100)
    await scene.bot(**FEW)

    async def moved() -> bool:
        loaded = [await gate.reviews.load(one) for one in more]
        return all(
            any(ref.conversation == APPROVALS for ref in one.posts.values()) for one in loaded
        )

    await wait_until("they are in the fallback", moved, 60)
