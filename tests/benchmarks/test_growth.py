"""A copy of a recorded review has the same keys as a real review, and the real code can use it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import pytest

from benchmarks.measures.growth.copies import store_copies
from benchmarks.measures.growth.recording import (
    AGENT,
    GROWING,
    POLICY,
    Kind,
    Record,
    Recording,
    read_records,
    thread_of,
)
from benchmarks.measures.growth.recording import record as record_review
from benchmarks.support.fixture import open_fixture
from hitl_core import Gate, Policy
from hitl_core.audit import seal
from hitl_core.cli.main import main
from hitl_core.model import Reviewer
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.store import Keys, RedisStore, make_review_id

ALICE = Reviewer(channel="slack", team="T0BENCH", id="U0ALICE", name="Alice Ng")
KINDS: tuple[Kind, ...] = ("pending", "done")


def comparable(recording: Recording) -> list[Record]:
    """What it left, without what differs between two real reviews."""

    def plain(text: bytes) -> str:
        known = text.decode().replace(recording.review_id, "ID")
        known = known.replace(recording.thread_id, "THREAD")
        known = known.replace(Keys(0).thread(recording.thread_id), "KEY")
        known = re.sub(r"(10)?1[789]\d{8}\.\d+", "TIME", known)
        known = re.sub(r"(?<=:)[0-9a-f]{8}(?=\")", "PROCESS", known)
        return re.sub(r"[0-9a-f]{64}|[0-9a-f]{32}|[\w.-]+:\d+:PROCESS", "HEX", known)

    def content(record: Record) -> list[tuple[bytes, bytes]]:
        return [(plain(a).encode(), plain(b).encode()) for a, b in record.content]

    def days(ttl: int) -> int:
        return -1 if ttl < 0 else round(ttl / 86_400_000)

    return [
        Record(plain(one.key.encode()), one.type, days(one.ttl), content(one))
        for one in recording.records
    ]


async def copy(url: str, recordings: Sequence[Recording], count: int) -> None:
    store_copies(url, recordings, count)
    store = await RedisStore.open(url)
    try:
        await seal(store)
    finally:
        await store.close()


@pytest.mark.redis
@pytest.mark.slow  # a server and a bot for each recording
@pytest.mark.parametrize("kind", KINDS)
async def test_a_copy_is_like_a_real_review(kind: Kind):
    """Given two real reviews, when the first is copied as the second, then Redis has for the copy what it has
    for the second: the same keys, of the same types, with the same times to live and contents."""
    first, second = [await record_review(kind, number) for number in (7, 0)]

    async with open_fixture() as fixture:
        store_copies(fixture.redis_url, [first], 1)
        found = await read_records(fixture.redis)

    copied = Recording(kind, second.review_id, second.thread_id, 0, found)
    assert comparable(copied) == comparable(second)
    assert {record.key.split(":")[2] for record in found} <= set(GROWING)


@pytest.mark.redis
@pytest.mark.slow
async def test_the_real_code_works_with_copies(capsys: pytest.CaptureFixture[str]):
    """Given copies, then their audit verifies, a pending one can be decided, run and finished, and the lists
    have as many as there are."""
    recordings = [await record_review(kind, 99_999_999) for kind in KINDS]
    async with open_fixture() as fixture:
        await copy(fixture.redis_url, recordings, 10)
        async with Gate.connect(
            fixture.redis_url, policy=Policy.from_mapping(POLICY), agent=AGENT
        ) as gate:
            review_id = make_review_id(0, AGENT, thread_of(4), "1", ["call-1"])
            assert (await gate.reviews.store.workload()).live == 5
            await gate.reviews.apply(
                Decide(review_id, "1", Proposal("approve", 1), ALICE, "click:2")
            )
            outcome = await gate.wait(review_id)
            await outcome.run({"send_email": lambda **_: "Sent."})
            assert (await gate.reviews.load(review_id)).review.status == "done"
            assert (await gate.reviews.store.workload()).live == 4
            decided = await gate.reviews.store.recent_decisions(ALICE.key)
            assert len(decided) == 6
        verified = await asyncio.to_thread(main, ["audit", "verify", "--redis", fixture.redis_url])

    assert verified == 0
    assert "reviews 10" in capsys.readouterr().out
