"""All keys that one real review leaves in Redis: an agent, a bot and a person do their part, then the keys
are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.programs.slack import PERSON, TEAM
from benchmarks.support.fixture import Fixture, open_fixture
from benchmarks.support.payload import tool_call
from hitl_core import Gate, Policy
from hitl_core.model import Reviewer
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.store import Keys
from hitl_core.store.redis.packing import unpack

AGENT = "bench"
#: The escalation is far away: the reviews are in the index of due timers, but none of them is due.
POLICY = {"default": "review", "escalate": [{"after": "90d", "to": "slack:#agent-approvals"}]}
REQUESTER = Reviewer(channel="slack", team=TEAM, id=PERSON, name="Alice Ng")

Kind = Literal["pending", "done"]
#: The keys of one review, and the shared keys that grow with the number of reviews. Hints, leases and
#: heartbeats are left out: they don't grow.
GROWING = ("review", "thread", "live", "due", "waiting", "decided", "audit")


@dataclass(frozen=True)
class Record:
    """One key: its name, type, time to live in milliseconds (-1: no end) and content. A hash has fields and
    values, a sorted set members and scores, a stream the fields of its entries without their ids. What is
    stored packed is unpacked here.
    """

    key: str
    type: str
    ttl: int
    content: Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Recording:
    """All keys that one review of this kind leaves. `at` is the time of its submit."""

    kind: Kind
    review_id: str
    thread_id: str
    at: float
    records: Sequence[Record]


def thread_of(number: int) -> str:
    """The thread id of a recording or copy. All have the same length."""
    return f"stored-{number:08}"


async def record(kind: Kind, number: int) -> Recording:
    """Records in a separate Redis. A pending review has a card; a done one was approved, ran, and has an
    updated card.
    """
    async with open_fixture() as fixture:
        return await record_in(fixture, kind, thread_of(number))


async def record_in(fixture: Fixture, kind: Kind, thread_id: str) -> Recording:
    """The same in this Redis, which must be empty."""
    async with (
        fixture.unpaced_bot(),
        Gate.connect(fixture.redis_url, policy=Policy.from_mapping(POLICY), agent=AGENT) as gate,
    ):
        review_id = await gate.submit(
            [tool_call()], thread_id=thread_id, turn="1", requester=PERSON
        )
        await fixture.wait_posted(1)
        if kind == "done":
            proposal = Proposal("approve", 1)
            await gate.reviews.apply(Decide(review_id, "1", proposal, REQUESTER, "click:1"))
            await (await gate.wait(review_id)).run({"send_email": _send})
            await fixture.wait_posted(1)
        at = (await gate.reviews.load(review_id)).review.created_at
    return Recording(kind, review_id, thread_id, at, await read_records(fixture.redis))


async def read_records(redis: Any) -> list[Record]:
    """The keys of GROWING, in the order of their names."""
    keys = sorted([key.decode() async for key in redis.scan_iter(match=f"{Keys(0).tag}:*")])
    return [await _read(redis, key) for key in keys if key.split(":")[2] in GROWING]


async def _read(redis: Any, key: str) -> Record:
    kind = (await redis.type(key)).decode()
    content: Any
    if kind == "hash":
        fields = sorted((await redis.hgetall(key)).items())
        content = [(name, unpack(value)) for name, value in fields]
    elif kind == "zset":
        found = await redis.zrange(key, 0, -1, withscores=True)
        content = [(member, _score(score)) for member, score in found]
    elif kind == "stream":
        entries = [field for _, fields in await redis.xrange(key) for field in fields.items()]
        content = [(name, unpack(value)) for name, value in entries]
    else:
        raise RuntimeError(f"{key} is a {kind}: nothing copies that yet.")
    return Record(key, kind, await redis.pttl(key), content)


def _score(score: float) -> bytes:
    return f"{score:.6f}".encode()


async def _send(to: str, subject: str, body: str) -> str:
    return f"Sent to {to}: {subject}, {len(body)} characters."
