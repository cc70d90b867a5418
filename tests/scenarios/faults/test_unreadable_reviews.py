"""A review that this version can't read is reported, and the others are still shown."""

from __future__ import annotations

import json

import pytest

from bot.health import PlaceCheck
from hitl_core import Gate
from hitl_core.store.redis.keys import Keys
from hitl_core.store.redis.packing import unpack
from slack_sandbox.client import read_text
from tests.scenarios.lists.test_digest import has_cards
from tests.scenarios.lists.test_home import approvals
from tests.support.bots import Scene, email
from tests.support.slack import APPROVALS, review_of
from tests.support.waiting import wait_until


async def make_unreadable(scene: Scene, gate: Gate) -> str:
    """Of a newer version, and the oldest of all reviews that wait."""
    review_id = await gate.submit([email("newer")], thread_id="newer")
    redis = await scene.redis()
    key = f"hitl:{{0}}:review:{review_id}"
    data = unpack(await redis.hget(key, "data"))
    await redis.hset(key, "data", data.replace(b'{"schema_version":', b'{"schema_version":9', 1))
    return review_id


async def test_the_places_of_all_other_reviews_are_checked(scene: Scene) -> None:
    """Given an unreadable review and one in a channel that is archived; when the places are checked, then
    both are problems."""
    gate = await scene.gate()
    unreadable = await make_unreadable(scene, gate)
    bot = await scene.bot()
    scene.ask(gate, email())
    await scene.wait_noted(gate, await scene.card("send_email"))
    scene.sandbox.channels.archive(APPROVALS)
    assert bot.workers is not None
    [check] = [one for one in bot.workers.others if isinstance(one, PlaceCheck)]

    await check.check_places()

    problems = {one.key: one.text for one in bot.health.current_problems()}
    assert "newer one wrote it" in problems["delivery", unreadable]
    assert "archived" in problems["place", "default"]


async def test_an_older_bot_leaves_a_review_of_a_newer_version_to_newer_bots(scene: Scene) -> None:
    """Given a bot that can't read a review, as a newer version wrote it; then it tells that, and the card
    stays in its queue, where a bot that can read it finds it: it was a dead letter, which a newer bot beside
    the older one tried again after five minutes."""
    gate = await scene.gate()
    review_id = await make_unreadable(scene, gate)
    bot = await scene.bot()

    def is_reported() -> bool:
        return any("newer one wrote it" in one.text for one in bot.health.current_problems())

    await wait_until("it is reported", is_reported)
    assert (await bot.store.backlog()).waiting == 1
    assert await bot.store.count_dead_letters() == 0

    redis = await scene.redis()
    key = f"hitl:{{0}}:review:{review_id}"
    data: bytes = await redis.hget(key, "data")
    await redis.hset(key, "data", data.replace(b'{"schema_version":9', b'{"schema_version":', 1))
    await scene.bot()
    assert review_id[:10] in str(await scene.card("send_email"))


async def test_an_older_bot_leaves_a_job_of_a_newer_version_to_newer_bots(scene: Scene) -> None:
    """Given a job of a kind that this version doesn't know, and other cards that it shows; then it tells
    that, and the job stays in its queue, as it was: it was a dead letter."""
    gate = await scene.gate()
    bot = await scene.bot()
    scene.ask(gate, email())
    review_id = review_of(await scene.card("send_email"))
    redis = await scene.redis()
    queue, member = Keys(0).queue("default"), f"poll {review_id} default"
    await redis.hset(Keys(0).change_counts, member, "a note")
    await redis.zadd(queue, {member: 1})
    await redis.zadd(Keys(0).queues, {"default": 1})

    def is_reported() -> bool:
        return any("a newer version queued" in one.text for one in bot.health.current_problems())

    await wait_until("it is reported", is_reported)
    for each in range(8):  # each one that is shown gives the job another try
        scene.ask(gate, email(f"c{each}"), thread_id=f"t{each}")
    await wait_until("all are shown", lambda: has_cards(scene, 9))

    async def only_it_is_left() -> bool:
        return await redis.zrange(queue, 0, -1) == [member.encode()]

    await wait_until("the others are done", only_it_is_left)
    assert await redis.hget(Keys(0).change_counts, member) == b"a note"
    assert await bot.store.count_dead_letters() == 0


async def test_a_home_shows_what_can_be_read_and_says_what_can_not(scene: Scene) -> None:
    gate = await scene.gate()
    await make_unreadable(scene, gate)
    await scene.bot()
    scene.ask(gate, email())
    card = await scene.card("send_email")

    await scene.actor.open_home(scene.alice.id)
    view = await wait_until("the Home", lambda: scene.actor.home(scene.alice.id))

    text = " ".join(read_text(view["blocks"]).split())
    assert "1 review can't be shown: this version of the bot can't read the stored data." in text
    assert review_of(card)[:10] in str(view)


async def make_undrawable(scene: Scene, gate: Gate) -> str:
    """Its data can be read, but it has an action without a call."""
    review_id = await gate.submit([email("odd")], thread_id="odd")
    redis = await scene.redis()
    key = f"hitl:{{0}}:review:{review_id}"
    data = json.loads(unpack(await redis.hget(key, "data")))
    data["actions"][0]["key"] = "9"
    await redis.hset(key, "data", json.dumps(data))
    return review_id


@pytest.mark.parametrize("decided", [True, False])
async def test_a_review_that_can_not_be_drawn_hides_no_other_in_a_home(
    scene: Scene, decided: bool
) -> None:
    """Given a damaged review among those that wait for Alice; then her Home and `/approvals` show the others,
    also those that she decided, and say that one can't be shown: they failed as a whole."""
    gate = await scene.gate()
    await make_undrawable(scene, gate)
    await scene.bot()
    scene.ask(gate, email())
    card = await scene.card("send_email")
    if decided:
        await scene.alice.press(card, "approve")

    await scene.actor.open_home(scene.alice.id)
    view = await wait_until("the Home", lambda: scene.actor.home(scene.alice.id))
    for text in (
        " ".join(read_text(view["blocks"]).split()),
        await approvals(scene, scene.alice.id),
    ):
        assert "1 review can't be shown" in text
    assert "Decided by you" in str(view) if decided else review_of(card)[:10] in str(view)
