"""What digests read from the store."""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health import Health
from bot.outbox.digests import DigestMaker
from bot.outbox.digests.reviews import CONCURRENCY, read_outlines
from hitl_core.errors import StoreUnavailable
from hitl_core.model import DEFAULT_PLACE, Place, Snapshot
from hitl_core.review import Reviews
from hitl_core.store import MemoryStore, digest_at
from tests.support.builders import START, call, policy, review_of
from tests.support.jobs import finish_all


class Away(MemoryStore):
    async def load_outline(self, review_id: str) -> Snapshot | None:
        raise StoreUnavailable("not now")


async def test_a_store_that_is_away_is_no_reason_to_give_a_digest_up() -> None:
    """Given a digest of several reviews and a lost reply; then the lane gets the error that it tries again,
    and not a group of errors, which would be a dead letter."""
    reviews = Reviews(Away(), retry_seconds=0.0)
    with pytest.raises(StoreUnavailable):
        await read_outlines(reviews, ["0-1", "0-2", "0-3"], print)


async def test_no_more_reviews_are_kept_than_are_loaded_at_once() -> None:
    """Given forty reviews: an agent chooses how many there are, and how large; then each is read, at most a
    few at the same time, and none of them is kept."""
    store = MemoryStore()
    reviews = Reviews(store)
    ids = [await submit(reviews, f"t{number}") for number in range(40)]
    found, alive = list[str](), list[ref[Snapshot]]()

    class Watched(Reviews):
        async def load_outline(self, review_id: str) -> Snapshot:
            snapshot = await super().load_outline(review_id)
            alive.append(ref(snapshot))
            gc.collect()
            assert sum(one() is not None for one in alive) <= CONCURRENCY
            return snapshot

    await read_outlines(Watched(store), ids, lambda snapshot: found.append(snapshot.review.id))
    assert sorted(found) == sorted(ids)


async def test_each_review_is_looked_at_once(channel: SlackChannel) -> None:
    """Given more cards than the setting says, each for other people, so that none can share a message; then
    the next looks at them load none of them again."""
    loads = list[str]()

    class Counted(MemoryStore):
        async def load_outline(self, review_id: str) -> Snapshot | None:
            loads.append(review_id)
            return await super().load_outline(review_id)

    store = Counted()
    reviews = Reviews(store)
    ids = [
        await submit(reviews, f"t{number}", reviewers={"users": [f"U0{number}AAAAAA"]})
        for number in range(8)
    ]
    maker = DigestMaker(reviews, Channels(channel), Health(), 4)
    for _ in range(3):
        await maker.gather("default")
        maker._next_try.clear()
    assert sorted(loads) == sorted(ids)


async def test_what_fails_each_time_is_one_problem_that_lasts(
    channel: SlackChannel,
) -> None:
    """Given digests that can't be made; then the looks between two tries, which do nothing, end no problem:
    it is told after a minute.
    """

    class Failing(MemoryStore):
        fails = True

        async def first_posts(self, lane: str, limit: int) -> list[tuple[str, Place]]:
            if self.fails:
                raise StoreUnavailable("not now")
            return await super().first_posts(lane, limit)

    store, health = Failing(), Health()
    maker = DigestMaker(Reviews(store), Channels(channel), health, 4)
    for _ in range(3):
        await maker.gather("default")
        await maker.gather("default")
        maker._next_try.clear()
    [problem] = health.current_problems()
    assert (problem.subject, problem.count) == ("digests default", 3)

    store.fails = False
    await maker.gather("default")
    assert health.current_problems() == ()


@pytest.mark.parametrize(
    "rule",
    [
        {"expire": {"after": "8m", "decision": "reject"}},
        {"escalate": [{"after": "8m", "to": "slack:#ops"}]},
        {"expire": {"after": "8m", "decision": "reject"}, "clock": "delivered"},
    ],
)
async def test_what_is_due_soon_joins_no_message_of_another_minute(
    channel: SlackChannel, rule: dict[str, Any]
) -> None:
    """Given a digest that takes more for ten minutes, which tells nobody of them; when reviews come that end
    or escalate within that time; then they share a new message, with those of the same minute."""
    assert await digests_of(channel, rule, [0, 9, 120]) == [0, 0, 1]


async def test_what_has_time_joins_the_message_of_the_last_ten_minutes(
    channel: SlackChannel,
) -> None:
    rule = {"expire": {"after": "1h", "decision": "reject"}}
    assert await digests_of(channel, rule, [0, 120, 500, 700]) == [0, 0, 0, 1]


async def digests_of(channel: SlackChannel, rule: dict[str, Any], times: list[int]) -> list[int]:
    """In which digest the reviews are that came at each of these times, in seconds; the first one is 0."""
    start = 1_800_000_000.0
    clock, found = [start], list[str]()
    store = MemoryStore(lambda: clock[0])
    reviews = Reviews(store)
    for time in times:
        clock[0] = start + time
        ids = [await submit(reviews, f"t{time}-{n}", clock[0], **rule) for n in range(8)]
        await DigestMaker(reviews, Channels(channel), Health(), 2).gather("default")
        each = {digest_at(await reviews.load(one), DEFAULT_PLACE) for one in ids}
        [digest_id] = each
        assert digest_id is not None
        found.append(digest_id)
        await finish_all(store)  # its message was posted
    return [[*dict.fromkeys(found)].index(one) for one in found]


async def submit(reviews: Reviews, thread: str, now: float = START, **rule: Any) -> str:
    made = review_of([call("mail")], by=policy(mail=rule), thread_id=thread, now=now)
    return (await reviews.submit(*made)).id
