"""docs/redis.md names every key in Redis, with its type and its lifetime."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import redis

from hitl_core import Gate, Policy, ToolCall
from hitl_core.audit.sealer import seal
from hitl_core.model import DEFAULT_PLACE, Reviewer, Token
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.store import RedisStore
from tests.docs.pages import page
from tests.support.jobs import begin_all

ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice Ng")
POLICY = Policy.from_mapping({"default": "review", "expire": {"after": "1h"}})


class Row(NamedTuple):
    key: str
    type: str
    stays: str

    @property
    def days(self) -> int:
        """How long Redis keeps it after its last use."""
        return 30 if self.stays.startswith("30 days") else 1 if self.stays == "a day" else 0

    def names(self, key: str) -> bool:
        parts = re.split(r"<id>|<h>", self.key)
        return bool(re.fullmatch("[0-9a-f-]+".join(map(re.escape, parts)), key))


def rows() -> list[Row]:
    found = re.findall(
        r"^\| `(hitl:[^`]+)` \| (\w+) \| .* \| (.*) \|$",
        page("docs/redis.md").text,
        re.MULTILINE,
    )
    return [Row(*cells) for cells in found]


async def test_every_key_has_its_row(redis_url: str) -> None:
    """Given one of everything, of each kind of review too, then each key in Redis has a row, each row a key,
    of the type and with the time to live that it says."""
    store = await RedisStore.open(redis_url)
    await store.save_token(Token.issue("billing", "", await store.now())[0])
    async with Gate.connect(redis_url, policy=POLICY, agent="billing") as gate:
        done, settled, _ = [await submit(gate, thread_id) for thread_id in ("t-1", "t-2", "t-3")]
        [job] = await begin_all(store)
        await store.move_to_dead_letters(job, "why")
        place = DEFAULT_PLACE
        [(waits, _), *_] = await store.first_posts(place, 9)
        digest = await store.add_to_digest(place, place, "g", "billing", [waits])
        assert digest
        await store.update_digest(digest, waits, waits=False)
        await begin_all(store)
        await look_around(store)
        for review_id in (done, settled):
            await gate.reviews.apply(Decide(review_id, "1", Proposal("approve", 1), ALICE, "op"))
        rejected = await submit(gate, "t-5")
        await gate.reviews.apply(Decide(rejected, "1", Proposal("reject", 1), ALICE, "op"))
        await (await gate.wait(done)).finish()
        await seal(store)
        if (anchor := await store.ledger.last_anchor(0)) is not None:
            await store.ledger.mark_exported(0, anchor)
        await store.hold_live_reviews()
        await submit(gate, "t-4")
        with redis.Redis.from_url(redis_url, decode_responses=True) as client:
            found: Iterable[Any] = client.scan_iter()
            keys = {key: (client.type(key), days(client.ttl(key))) for key in found}
    await store.close()

    named = {name for row in rows() for name in keys if row.names(name)}
    assert named == keys.keys()
    for row in rows():
        kinds = {keys[name] for name in keys if row.names(name)}
        assert {kind for kind, _ in kinds} == {row.type}, row.key
        assert max(left for _, left in kinds) == row.days, row.key


async def look_around(store: RedisStore) -> None:
    """As somebody does who opens the app's Home, and a form of two pages, while an agent runs."""
    await store.record_home_view(ALICE.id, await store.now())
    assert await store.try_lock(f"home:{ALICE.id}", 30)
    assert await store.hold_thread("billing", "t-1", "process", 30)
    assert await store.hold_lanes(["default"], "bot", 8)
    await store.take_slot("update", 1.2)
    await store.add_channel_value("teams", "button-key", b"k")
    await store.add_channel_value("slack", "workspace", b"T0ACME")
    await store.save_temporary_value("form", b"{}", 3600)


async def submit(gate: Gate, thread_id: str) -> str:
    return await gate.submit([ToolCall("c1", "send_email", {})], thread_id=thread_id)


def days(ttl: Any) -> int:
    """Whole ones; 0 for hours and for keys that stay."""
    return max(0, round(int(ttl) / (24 * 3600)))
