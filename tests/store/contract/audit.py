"""What happened to a review is a chain of entries."""

from __future__ import annotations

import asyncio
from collections import Counter

from hitl_core.model import Place
from hitl_core.review import claims
from hitl_core.store import Store
from tests.store.steps import (
    ELSEWHERE,
    HERE,
    OPS,
    THERE,
    approved,
    attempted,
    audit_of,
    chain_of,
    created,
    decided,
    loaded,
    next_write,
    stepped,
)


class AuditContract:
    async def test_what_happens_is_a_chain(self, store: Store):
        """Given a whole life, with two cards and two refused clicks; then its entries follow one another,
        and the review knows the last one.
        """
        review = await created(store)
        await store.record_post(review.id, OPS, HERE)
        await store.record_post(review.id, OPS, THERE)
        await attempted(store, review, "click-1")
        review = await approved(store, review)
        await store.record_post(review.id, ELSEWHERE, THERE)
        review = await stepped(store, claims.claim(review, "p1", await store.now(), 30))
        review = await stepped(store, claims.renew(review, 1, await store.now(), 30))
        await attempted(store, review, "click-2")
        await stepped(store, claims.finish(review, 1, {}, await store.now()))

        entries = await audit_of(store)

        kinds = "submitted delivered refused decided delivered claimed refused done"
        assert [entry["kind"] for entry in entries] == kinds.split()
        assert [entry["n"] for entry in entries] == list(range(1, 9))
        assert [entry["prev"] for entry in entries] == ["", *(e["hash"] for e in entries[:-1])]
        assert await chain_of(store, review.id) == f"8:{entries[-1]['hash']}"
        assert (entries[1]["place"], entries[1]["what"]) == (OPS, "slack:C1/1.1")
        now = await store.now()
        assert all(abs(entry["at"] - now) < 60 for entry in entries)

    async def test_what_was_read_before_the_last_entry_is_not_stored(self, store: Store):
        """Given a transition on a review that was read; when a card is posted meanwhile; then the compare is
        lost, though the version is the same.
        """
        review = await created(store)
        stale = await next_write(store, decided(review, await store.now()))
        await store.record_post(review.id, OPS, HERE)

        assert not await store.commit(stale)
        assert await store.commit(await next_write(store, decided(review, await store.now())))
        assert [entry["n"] for entry in await audit_of(store)] == [1, 2, 3]

    async def test_one_click_is_one_attempt(self, store: Store):
        """Said again it is not noted again; who clicks again has tried again."""
        review = await created(store)
        for op in ("click-1", "click-1", "click-2", None, None):
            await attempted(store, review, op)

        tried = (await audit_of(store))[1:]

        assert [entry.get("op") for entry in tried] == ["click-1", "click-2", None, None]
        assert tried[0]["by"]["id"] == "U_EVE"
        assert await loaded(store, review.id) == review

    async def test_many_at_once_make_one_chain(self, store: Store):
        """Given cards and refused clicks at the same moment; then none is lost, and all are in the chain."""
        review = await created(store)

        await asyncio.gather(
            *(attempted(store, review, f"click-{n}") for n in range(10)),
            *(store.record_post(review.id, Place(f"slack:#{n % 5}"), HERE) for n in range(10)),
        )

        entries = await audit_of(store)
        assert Counter(e["kind"] for e in entries) == {
            "submitted": 1,
            "refused": 10,
            "delivered": 5,
        }
        assert [entry["prev"] for entry in entries] == ["", *(e["hash"] for e in entries[:-1])]

    async def test_an_agents_policy_is_known_and_each_change_is_in_the_audit(self, store: Store):
        """T69: replaced, and rolled back, it says so with both hashes; the same again says nothing."""
        answers = [
            await store.record_policy("billing", d) for d in ("one", "one", "two", "two", "one")
        ]

        assert answers == [None, "one", "one", "two", "two"]
        assert await store.record_policy("support", "two") is None
        entries = await audit_of(store)
        assert [
            (e["kind"], e["agent"], e["before"], e["policy_hash"], e["n"]) for e in entries
        ] == [
            ("policy_changed", "billing", "one", "two", 1),
            ("policy_changed", "billing", "two", "one", 2),
        ]
        assert entries[1]["prev"] == entries[0]["hash"]
