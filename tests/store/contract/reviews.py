"""A review is stored whole, in versions, with its arguments to the byte."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.model import DEFAULT_PLACE
from hitl_core.review import claims, decisions
from hitl_core.store import Store
from hitl_core.store.contract import MAX_AGE
from tests.store.steps import HERE, created, loaded, next_write, stepped
from tests.support.builders import call, person, proposal, review_of, write_of


class ReviewsContract:
    async def test_an_outline_is_the_review_without_its_arguments(self, store: Store):
        """Given a review with a card and a mark; then its outline says the same, but for the arguments."""
        review = await created(store, "ask", "look_up")
        await store.record_post(review.id, DEFAULT_PLACE, HERE)
        await store.record_mark(review.id, "m")

        whole, outline = await store.load(review.id), await store.load_outline(review.id)

        assert whole is not None
        assert outline is not None
        assert outline.review.args == {}
        assert outline.review.model_copy(update={"args": whole.review.args}) == whole.review
        assert (outline.posts, outline.marks) == (whole.posts, whole.marks)
        assert (outline.chain, outline.shown) == (whole.chain, whole.shown)
        assert await store.load_outline(f"0-{'0' * 32}") is None

    async def test_what_is_stored_is_loaded_whole(self, store: Store):
        """Given a new review, when it is loaded, then it is equal, with no cards yet, at the store's time."""
        review = await created(store, "ask", "look_up", "drop_table")

        snapshot = await store.load(review.id)

        assert snapshot is not None
        assert snapshot.review == review
        assert dict(snapshot.review.args) == dict(review.args)
        assert (snapshot.posts, snapshot.shown) == ({}, {})
        assert abs(snapshot.now - await store.now()) < 5

    async def test_nothing_is_loaded_where_nothing_is(self, store: Store):
        """An unknown id and one that is none of ours are answered alike (T37)."""
        strange = ["", "0-", "0-x", f"9999-{'a' * 32}", f"²-{'a' * 32}", "0-\ud800", "a" * 5000]
        for id in [f"0-{'a' * 32}", f"00-{'a' * 32}", f"0-{'g' * 32}", *strange]:
            assert await store.load(id) is None

    async def test_a_review_is_created_once(self, store: Store):
        """Given a stored review, when another of its id is created, then nothing changes."""
        review = await created(store)
        twin, event = review_of([call(n=99)], turn=review.turn, now=await store.now())
        twin = twin.model_copy(update={"id": review.id})

        assert not await store.commit(write_of((twin, event)))

        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert snapshot.review == review
        assert snapshot.review.arguments("1").parse() == {"n": 1}

    async def test_a_lost_compare_changes_nothing(self, store: Store):
        """Given two transitions of one version, when both are stored, then the second is refused."""
        review = await created(store)
        at = await store.now()
        approval = decisions.decide(review, "1", proposal("approve"), person("Ada"), at)
        rejection = decisions.decide(review, "1", proposal("reject"), person("Bo"), at)
        mine, yours = await next_write(store, approval), await next_write(store, rejection)

        assert await store.commit(mine)
        assert not await store.commit(yours)
        assert not await store.commit(mine)

        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert snapshot.review == mine.review

    async def test_a_change_of_what_was_read_long_ago_is_not_stored(self, store: Store):
        """A process was stopped after it read: its time is no longer the store's."""
        review, now = await created(store), await store.now()
        write = await next_write(store, decisions.decide(review, "1", proposal(), person(), now))

        assert not await store.commit(write._replace(read_at=now - MAX_AGE - 1))
        assert (await loaded(store, review.id)).status == "pending"
        assert await store.commit(write._replace(read_at=now))

    async def test_a_version_can_not_be_skipped(self, store: Store):
        """Neither the third version nor a change of what doesn't exist is stored."""
        review = await created(store)
        third = review.model_copy(update={"version": 3})
        unknown, event = review_of(now=await store.now(), partitions=store.partitions)
        unknown = unknown.model_copy(update={"version": 2})

        assert not await store.commit(write_of((third, event)))
        assert not await store.commit(write_of((unknown, event)))
        assert await store.load(unknown.id) is None

    @pytest.mark.parametrize(
        "args",
        [
            {"text": "ünï \u202e 漢字 👩‍👩‍👧 \x00 \n \u2028"},
            {"n": 1.0, "i": 1, "big": 2**200, "exact": 9007199254740993, "small": 5e-324},
            {"zero": -0.0, "empty": {}, "list": [], "none": None, "deep": [[[{"": ""}]]]},
            {"z": 1, "a": 2, "Z": 3, "ä": 4},
            {"long": "x" * 200_000},
        ],
        ids=["unicode", "numbers", "empty", "keys", "long"],
    )
    async def test_arguments_are_kept_to_the_byte(self, store: Store, args: dict[str, Any]):
        """The store never parses arguments: their hash is the same on the way back."""
        made = review_of([call(**args)], now=await store.now(), partitions=store.partitions)
        assert await store.commit(write_of(made))

        snapshot = await store.load(made[0].id)

        assert snapshot is not None
        assert snapshot.review.arguments("1").data == made[0].arguments("1").data
        assert snapshot.review.arguments("1").hash == made[0].calls[0].args_hash
        assert repr(snapshot.review.arguments("1").parse()) == repr(dict(sorted(args.items())))

    async def test_an_edit_adds_bytes_and_keeps_the_old_ones(self, store: Store):
        """Both revisions can be read after an edit, and after whatever follows it."""
        review = await created(store)
        edited = decisions.decide(review, "1", proposal("edit", n=2), person(), await store.now())
        review = await stepped(store, edited)
        await stepped(store, claims.claim(review, "p1", await store.now(), 30))

        snapshot = await store.load(review.id)

        assert snapshot is not None
        assert snapshot.review.arguments("1", 1).parse() == {"n": 1}
        assert snapshot.review.arguments("1").parse() == {"n": 2}

    async def test_times_are_kept_exactly(self, store: Store):
        """A deadline that came back rounded would be another deadline."""
        made = review_of(now=1_800_000_000.123_456_7, partitions=store.partitions)
        assert await store.commit(write_of(made))

        snapshot = await store.load(made[0].id)

        assert snapshot is not None
        assert snapshot.review.created_at == made[0].created_at
        assert snapshot.review.actions == made[0].actions
