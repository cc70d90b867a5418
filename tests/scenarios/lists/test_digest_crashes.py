"""Digests, and bots that die, freeze or are refused while they work on them."""

from __future__ import annotations

from collections.abc import Collection

from hitl_core import Gate, Policy
from hitl_core.model import DEFAULT_PLACE, Place
from hitl_core.store import RedisStore
from tests.scenarios.lists.test_digest import COUNT, FEW, digest_of, is_counted, submit
from tests.support.bots import POLICY, Scene
from tests.support.jobs import finish_all
from tests.support.slack import APPROVALS
from tests.support.waiting import wait_until


async def test_a_bot_killed_after_it_posted_a_digest_again(scene: Scene) -> None:
    """Given a digest whose message is deleted; when a bot posts it again, and is killed after it recorded
    that; then the next bot gives its reviews the new message."""
    gate = await scene.gate()
    ids = await submit(gate)
    bot = await scene.bot(**FEW)
    digest = await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.all_shown()
    assert bot.workers
    await bot.workers.outbox.drain()
    scene.sandbox.workspace.channels[APPROVALS].messages[digest["ts"]].deleted = True
    await gate.cancel(ids[0], "no")
    dying = await scene.bot_process("outbox.after_digest_record=kill", **FEW)
    assert await dying.wait_end() == -9
    await scene.bot(**FEW)
    again = await digest_of(scene, COUNT - 1, COUNT)

    async def moved() -> bool:
        loaded = [await gate.reviews.load(one) for one in ids[1:]]
        return all({ref.ts for ref in one.posts.values()} == {again["ts"]} for one in loaded)

    await wait_until("the reviews belong to it", moved)
    assert len(await scene.cards()) == 1


async def test_what_another_bot_adds_while_a_digest_is_dissolved_is_shown(
    redis_url: str,
) -> None:
    """Given a bot that is frozen while it dissolves a digest; when another bot adds reviews to it; then each
    review has a job of its own, or a digest that has one."""
    policy = Policy.from_yaml(POLICY)
    async with (
        Gate.connect(redis_url, policy=policy, agent="crm") as gate,
        Gate.connect(redis_url, policy=policy, agent="crm") as other,
    ):
        frozen, store, place = gate.reviews.store, other.reviews.store, DEFAULT_PLACE
        first, later = await submit(gate, 5), await submit(gate, 5, 100)
        id = await frozen.add_to_digest(place, place, "g", "crm", first)
        assert id
        assert isinstance(frozen, RedisStore)
        leave, added = frozen._leave, list[str | None]()

        async def freeze_and_leave(
            id: str, place: Place, ids: Collection[str], *, closes: bool
        ) -> None:
            added.append(await store.add_to_digest(place, place, "g", "crm", later))
            await leave(id, place, ids, closes=closes)

        frozen._leave = freeze_and_leave
        await frozen.dissolve_digest(id, place)
        jobs = {job.review_id for job in await finish_all(store)}
        shown_by = {one for one in added if one in jobs}
        shown: list[str] = []
        for one in shown_by:
            digest = await store.digest(one or "")
            assert digest
            shown += digest.waiting
        assert {*first, *later} <= jobs | set(shown)
        for one in (*first, *later):
            await gate.cancel(one, "no")


async def test_a_reminder_of_a_bot_that_dies_is_posted_by_the_next_one(scene: Scene) -> None:
    """Given a digest whose reviews remind people, and a bot that is killed while Slack takes the line in its
    thread; then the next bot posts it."""
    gate = await scene.gate(POLICY.replace("default: review", "default: review\nremind: 4s"))
    ids = await submit(gate)
    bot = await scene.bot_process("", **FEW)
    digest = await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.actor.inject_fault("hang", method="chat.postMessage", times=1)
    await scene.calls("chat.postMessage", 2)
    await bot.kill()

    await scene.bot(**FEW)

    async def reminded() -> bool:
        messages = await scene.actor.messages(APPROVALS)
        return any(one["thread_ts"] == digest["ts"] and not one["metadata"] for one in messages)

    await wait_until("the line", reminded, 60)


async def test_a_reminder_that_slack_refuses_once_is_repeated(scene: Scene) -> None:
    """Given a digest whose reviews remind people; when Slack answers 500 to the line in its thread; then the
    line is posted after that."""
    gate = await scene.gate(POLICY.replace("default: review", "default: review\nremind: 4s"))
    ids = await submit(gate)
    await scene.bot(**FEW)
    digest = await digest_of(scene, COUNT)
    await wait_until("each has its message", lambda: is_counted(gate, ids))
    await scene.all_shown()
    await scene.actor.inject_fault("http_500", method="chat.postMessage", times=1)

    async def reminded() -> bool:
        messages = await scene.actor.messages(APPROVALS)
        return any(one["thread_ts"] == digest["ts"] and not one["metadata"] for one in messages)

    await wait_until("the line", reminded, 60)
