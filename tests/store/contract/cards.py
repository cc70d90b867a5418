"""Where the cards of a review are shown, what they show, and the marks beside it."""

from __future__ import annotations

import json

from hitl_core.model import DEFAULT_PLACE, Event, MessageRef, Place
from hitl_core.store import Store
from tests.store.steps import ELSEWHERE, HERE, OPS, THERE, audit_of, created, finished


class CardsContract:
    async def test_the_first_post_wins(self, store: Store):
        """Of two messages for one place the second learns about the first; other places are apart."""
        review = await created(store)

        assert await store.record_post(review.id, DEFAULT_PLACE, HERE) == HERE
        assert await store.record_post(review.id, DEFAULT_PLACE, THERE) == HERE
        assert await store.record_post(review.id, DEFAULT_PLACE, HERE) == HERE
        assert await store.record_post(review.id, Place("slack:#ops"), THERE) == THERE

        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert snapshot.posts == {DEFAULT_PLACE: HERE, "slack:#ops": THERE}
        assert snapshot.review == review

    async def test_a_message_that_is_gone_can_be_replaced_once(self, store: Store):
        """Promise 4: given a message that was deleted; of two that come in its place the first one wins, and
        each that was recorded is an entry of the audit."""
        review = await created(store)
        third = HERE.model_copy(update={"ts": "3.3"})
        await store.record_post(review.id, DEFAULT_PLACE, HERE)

        assert await store.record_post(review.id, DEFAULT_PLACE, THERE, third) == HERE
        assert await store.record_post(review.id, DEFAULT_PLACE, THERE, HERE) == THERE
        assert await store.record_post(review.id, DEFAULT_PLACE, third, HERE) == THERE
        assert await store.record_post(review.id, DEFAULT_PLACE, THERE, HERE) == THERE

        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert snapshot.posts == {DEFAULT_PLACE: THERE}
        entries = [
            entry for part in range(store.partitions) for entry in await store.ledger.entries(part)
        ]
        lines = [json.loads(entry.line) for entry in entries]
        assert [line["kind"] for line in lines] == ["submitted", "delivered", "delivered"]
        assert snapshot.chain == f"3:{lines[-1]['hash']}"

    async def test_a_message_is_kept_with_its_address_and_tenant(self, store: Store):
        """Given a channel that needs them to find a message again, then both are read back."""
        review = await created(store)
        ref = MessageRef(
            channel="teams",
            conversation="19:abc@thread.tacv2;messageid=1700000000000",
            ts="1700000000000",
            service_url="https://smba.trafficmanager.net/emea/",
            tenant="3c1b4f",
        )

        assert await store.record_post(review.id, OPS, ref) == ref
        assert await store.record_post(review.id, OPS, HERE) == ref
        snapshot = await store.load(review.id)

        assert snapshot is not None
        assert snapshot.posts == {OPS: ref}

    async def test_what_a_card_shows_never_goes_back(self, store: Store):
        """Each answer is the newest version shown; a place that shows nothing yet is at 0."""
        review = await created(store)

        shown = [
            await store.record_shown_version(review.id, OPS, version)
            for version in (1, 9, 3, 10, 10)
        ]

        assert shown == [1, 9, 9, 10, 10]
        assert await store.record_shown_version(review.id, ELSEWHERE, 2) == 2
        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert snapshot.shown == {OPS: 10, ELSEWHERE: 2}

    async def test_posts_survive_every_change_of_the_review(self, store: Store):
        """The card is known before and after the decision."""
        review = await created(store)
        await store.record_post(review.id, OPS, HERE)
        await store.record_shown_version(review.id, OPS, 1)

        await finished(store, review)

        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert (snapshot.posts, snapshot.shown) == ({OPS: HERE}, {OPS: 1})

    async def test_marks_are_kept_beside_the_review(self, store: Store):
        """Each once, also if it is noted again. No version changes, and nobody is notified."""
        review = await created(store)
        other = await created(store, thread_id="other")

        noted = [await store.record_mark(review.id, mark) for mark in ("read:1:1:ada", "b", "b")]

        assert noted == [True, True, False]
        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert (snapshot.marks, snapshot.review) == ({"read:1:1:ada", "b"}, review)
        assert [entry["kind"] for entry in await audit_of(store)] == ["submitted"] * 2
        snapshot = await store.load(other.id)
        assert snapshot is not None
        assert snapshot.marks == frozenset()

        await store.drop_mark(review.id, "b")
        await store.drop_mark(review.id, "never set")
        assert await store.record_mark(review.id, "b") is True

    async def test_nothing_is_noted_of_what_is_not_there(self, store: Store):
        """T37: an id that was guessed changes nothing, and nothing can be learned from the answer."""
        review = await created(store)
        refused = Event(kind="refused", review_id="", at=0, what="not_allowed", op="1")
        for digit in "0123":
            id = f"0-{digit * 32}"
            assert await store.load(id) is None
            assert await store.record_mark(id, "m") is False
            assert await store.record_post(id, OPS, HERE) == HERE
            assert await store.record_shown_version(id, OPS, 3) in (0, 3)
            assert (
                await store.record_event(id, refused.model_copy(update={"review_id": id})) is None
            )
            assert await store.load(id) is None

        assert [e["review_id"] for e in await audit_of(store)] == [review.id]
