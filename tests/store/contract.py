"""What every store promises. A subclass provides the `store`, and the `clock` that moves its time."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hitl_core.model import (
    DEFAULT_PLACE,
    STARTED_MARK,
    Event,
    MessageRef,
    Place,
    Review,
    Token,
    is_digest_id,
    short_id,
)
from hitl_core.review import Reviews, claims, commands, decisions
from hitl_core.review.transition import Transition
from hitl_core.store import MAX_DIGEST, Digest, Recheck, RejectedCall, Store, Write, digest_at
from hitl_core.store.contract import MAX_REJECTED, lane_of
from tests.support.builders import call, person, proposal, review_of, write_of
from tests.support.jobs import begin_all, finish_all
from tests.support.waiting import wait_until

#: Lets the store's own time pass by this many seconds.
Pass = Callable[[float], Awaitable[None]]

OPS, ELSEWHERE = Place("slack:#ops"), Place("slack:#elsewhere")
HERE = MessageRef(channel="slack", conversation="C1", ts="1.1")
THERE = MessageRef(channel="slack", conversation="C1", ts="2.2")


async def created(store: Store, *names: str, **where: Any) -> Review:
    """A stored review with one call of each tool, submitted at the store's now."""
    calls = [call(name, f"c{n}", n=n) for n, name in enumerate(names or ("ask",), start=1)]
    made = review_of(calls, now=await store.now(), partitions=store.partitions, **where)
    assert await store.commit(write_of(made, wake=True))
    return made[0]


async def waiting_cards(store: Store, count: int) -> list[str]:
    """The ids of reviews of one thread, in the order of their first cards."""
    now, ids = await store.now(), list[str]()
    for n in range(count):
        made = review_of(
            [call("ask", f"c{n}", n=n)],
            now=now - 10 + n,
            partitions=store.partitions,
            thread_id="t",
        )
        assert await store.commit(write_of(made))
        ids.append(made[0].id)
    return ids


async def stepped(store: Store, changed: Transition, *, wake: bool = False) -> Review:
    """This transition, stored as the next version."""
    write = await next_write(store, changed, wake=wake)
    assert await store.commit(write)
    return write.review


async def next_write(store: Store, changed: Transition, *, wake: bool = False) -> Write:
    after = changed.review.model_copy(update={"version": changed.review.version + 1})
    chain = await chain_of(store, after.id)
    return write_of(Transition(after, changed.event), wake=wake)._replace(chain=chain)


async def chain_of(store: Store, review_id: str) -> str:
    snapshot = await store.load(review_id)
    return snapshot.chain if snapshot else ""


async def approved(store: Store, review: Review) -> Review:
    at = await store.now()
    return await stepped(store, decisions.decide(review, "1", proposal(), person(), at), wake=True)


async def finished(store: Store, review: Review) -> Review:
    """Approved, claimed and done."""
    review = await approved(store, review)
    at = await store.now()
    review = await stepped(store, claims.claim(review, "p1", at, 30))
    return await stepped(store, claims.finish(review, review.fence, {}, at))


async def loaded(store: Store, review_id: str) -> Review:
    snapshot = await store.load(review_id)
    assert snapshot is not None
    return snapshot.review


def decided(review: Review, at: float) -> Transition:
    return decisions.decide(review, "1", proposal(), person(), at)


async def attempted(store: Store, review: Review, op: str | None) -> None:
    """Eve clicks, who may not."""
    event = Event(
        kind="refused", review_id=review.id, at=0, by=person("Eve"), what="not_allowed", op=op
    )
    await store.record_event(review.id, event)


async def audit_of(store: Store) -> list[dict[str, Any]]:
    """All entries, partition by partition."""
    return [
        json.loads(entry.line)
        for partition in range(store.partitions)
        for entry in await store.ledger.entries(partition)
    ]


class StoreContract:
    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def let_pass(self) -> Pass:
        raise NotImplementedError

    # ------------------------------------------------------------------ the review itself

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
        """The store never parses arguments: their digest is the same on the way back."""
        made = review_of([call(**args)], now=await store.now(), partitions=store.partitions)
        assert await store.commit(write_of(made))

        snapshot = await store.load(made[0].id)

        assert snapshot is not None
        assert snapshot.review.arguments("1").data == made[0].arguments("1").data
        assert snapshot.review.arguments("1").digest == made[0].calls[0].digest
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

    # ------------------------------------------------------------------ where cards are shown

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
        """T37: an id that was guessed changes nothing, and learns nothing, whichever it is."""
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

    # ------------------------------------------------------------------ the audit

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
        """T69: replaced, and rolled back, it says so with both digests; the same again says nothing."""
        answers = [
            await store.record_policy("billing", d) for d in ("one", "one", "two", "two", "one")
        ]

        assert answers == [None, "one", "one", "two", "two"]
        assert await store.record_policy("support", "two") is None
        entries = await audit_of(store)
        assert [(e["kind"], e["agent"], e["before"], e["digest"], e["n"]) for e in entries] == [
            ("policy_changed", "billing", "one", "two", 1),
            ("policy_changed", "billing", "two", "one", 2),
        ]
        assert entries[1]["prev"] == entries[0]["hash"]

    # ------------------------------------------------------------------ who it waits for

    async def test_what_waits_for_somebody_is_found_by_audience(self, store: Store, let_pass: Pass):
        """Given reviews of two audiences; then each is found once, the oldest first, a page at a time."""
        ids: list[str] = []
        for audiences in (["user:U1", "place:a"], ["place:a"], ["group:S1"], ["user:U1"]):
            made = review_of(now=await store.now(), partitions=store.partitions)
            assert await store.commit(write_of(made)._replace(audiences_added=audiences))
            ids.append(made[0].id)
            await let_pass(0.002)

        both = await store.waiting_reviews(["user:U1", "place:a"])

        assert ([id for id, _ in both.reviews], both.total) == ([ids[0], ids[1], ids[3]], 3)
        assert both.reviews[0][1] == (await loaded(store, ids[0])).created_at
        page = await store.waiting_reviews(["user:U1", "place:a", "group:S1"], limit=2, offset=1)
        assert ([id for id, _ in page.reviews], page.total) == ([ids[1], ids[2]], 4)
        assert (
            await store.waiting_reviews([]) == await store.waiting_reviews(["user:U9"]) == ([], 0)
        )

    async def test_an_audience_that_is_left_waits_no_more(self, store: Store):
        """One joins, another leaves; a lost compare moves nobody."""
        review = await created(store)
        change = await next_write(store, decided(review, await store.now()))
        lost = change._replace(audiences_added=["user:U3"], chain="9:f")
        assert not await store.commit(lost)
        assert await store.commit(change._replace(audiences_added=["user:U1", "user:U2"]))
        again = (await loaded(store, review.id)).model_copy(update={"version": 3})
        event = Event(kind="reminded", review_id=review.id, at=1)
        write = write_of((again, event))._replace(
            chain=await chain_of(store, review.id),
            audiences_added=["user:U4"],
            audiences_removed=["user:U2", "user:U7"],
        )
        assert await store.commit(write)

        found = [(await store.waiting_reviews([f"user:U{n}"])).total for n in range(1, 6)]
        assert found == [1, 0, 0, 1, 0]

    async def test_what_somebody_decided_is_remembered(self, store: Store, let_pass: Pass):
        """The latest first, a review once, at the time of their last word; no other person's."""
        reviews = [await created(store, "ask", "ask", thread_id=f"t-{n}") for n in range(3)]
        for review in (reviews[0], reviews[1], reviews[0]):
            await let_pass(0.002)
            review = await loaded(store, review.id)
            key = next(action.key for action in review.actions if action.is_pending)
            at = await store.now()
            await stepped(store, decisions.decide(review, key, proposal(), person(), at))
        bos = decisions.decide(reviews[2], "1", proposal(), person("Bo"), await store.now())
        await stepped(store, bos)

        found = await store.recent_decisions(person().key)

        assert [id for id, _ in found] == [reviews[0].id, reviews[1].id]
        assert found[0][1] == pytest.approx(at, abs=1e-5)
        assert await store.recent_decisions(person().key, limit=1, offset=1) == [found[1]]
        assert [id for id, _ in await store.recent_decisions(person("Bo").key)] == [reviews[2].id]
        assert await store.recent_decisions(person("Eve").key) == []

    async def test_only_the_last_200_are_remembered(self, store: Store):
        """A list that nobody reads to its end doesn't grow without end."""
        ids: list[str] = []
        for n in range(203):
            review, _ = review_of(now=1000.0 + n, partitions=1)
            text = Event(kind="voted", review_id=review.id, at=1000.0 + n, by=person())
            await store.commit(Write(review, text, review.args, None, None, False))
            ids.append(review.id)

        found = [id for id, _ in await store.recent_decisions(person().key, limit=1000)]

        assert found == ids[:-201:-1]

    async def test_rejected_calls_are_an_agents_own_in_one_thread(self, store: Store):
        """The latest first, until they are removed; no other agent's, and none of another thread."""
        made: list[RejectedCall] = []
        for n in range(MAX_REJECTED + 3):
            review, _ = review_of(now=1000.0 + n, partitions=store.partitions)
            event = Event(kind="decided", review_id=review.id, at=1000.0 + n, by=person())
            made.append(RejectedCall(review.id, "1", "ask"))
            write = Write(review, event, review.args, None, None, False, rejected_added=made[-1:])
            assert await store.commit(write)
        agent, thread = "billing", "t-1"
        assert await store.rejected_calls(agent, thread) == made[:2:-1]
        assert await store.rejected_calls("other", thread) == []
        assert await store.rejected_calls(agent, "other") == []

        review, event = review_of(now=9000.0, partitions=store.partitions)
        gone = Write(review, event, review.args, None, None, False, rejected_removed=made[-1:])
        assert await store.commit(gone)
        assert await store.rejected_calls(agent, thread) == made[-2:2:-1]

    async def test_a_submit_reads_its_thread_in_one_step(self, store: Store):
        """Whether the thread has a live review, and whether this one is stored; what was rejected in it; and
        the time."""
        before = await store.now()
        review = await created(store)
        agent, thread, other = review.agent, review.thread_id, f"0-{'0' * 32}"
        state = await store.thread_state(agent, thread, review.id)
        assert (state.rejected, state.has_live, state.has_review) == ([], True, True)
        assert before <= state.now <= await store.now()
        state = await store.thread_state(agent, thread, other)
        assert (state.has_live, state.has_review) == (True, False)
        state = await store.thread_state(agent, "other", other)
        assert (state.rejected, state.has_live, state.has_review) == ([], False, False)

        found = await store.load(review.id)
        assert found is not None
        rejected = RejectedCall(review.id, "1", "ask")
        by = Event(kind="decided", review_id=review.id, at=1000.0, by=person())
        changed = {"version": 2, "status": "done", "done_at": state.now}
        done = review.model_copy(update=changed)
        chain = found.chain
        write = Write(done, by, {}, None, None, False, chain, rejected_added=[rejected])
        assert await store.commit(write)
        state = await store.thread_state(agent, thread, review.id)
        assert (state.rejected, state.has_live, state.has_review) == ([rejected], False, True)
        assert (await store.thread_state("other", thread, review.id)).rejected == []

    async def test_some_arguments_are_loaded_alone(self, store: Store):
        review = await created(store, "ask", "ask")
        names = ["2:1", "2:2", "9:1"]
        assert await store.load_arguments(review.id, names) == {"2:1": review.args["2:1"]}
        assert await store.load_arguments(review.id, []) == {}
        assert await store.load_arguments("0-" + "0" * 32, names) == {}

    # ------------------------------------------------------------------ people's small things

    async def test_a_draft_is_kept_for_a_while(self, store: Store, let_pass: Pass):
        """Written over, dropped, or forgotten when its time is over; bytes as they were."""
        key, data = "T1:U1:0-abc:1:1 }{", b"\x00\xff{"
        assert await store.draft(key) is None
        await store.save_draft(key, b"old", 60)
        await store.save_draft(key, data, 0.2)
        assert await store.draft(key) == data
        assert await store.draft("another") is None
        await let_pass(0.25)
        assert await store.draft(key) is None
        await store.save_draft(key, data, 60)
        await store.drop_draft(key)
        await store.drop_draft(key)
        assert await store.draft(key) is None

    async def test_who_has_looked_at_home_lately(self, store: Store):
        """The latest first; a look that comes late doesn't take back a later one."""
        now = await store.now()
        for user, ago in (("T1:U1", 90), ("T1:U2", 30), ("T1:U1", 10), ("T1:U1", 50)):
            await store.record_home_view(user, now - ago)

        assert await store.home_viewers(now - 60) == ["T1:U1", "T1:U2"]
        assert await store.home_viewers(now - 20) == ["T1:U1"]
        assert await store.home_viewers(now) == []

    async def test_a_claim_is_ones_until_its_time_is_over(self, store: Store, let_pass: Pass):
        """Of many at once one has it; another name is another claim."""
        claimed = await asyncio.gather(*(store.try_lock("home:U1", 0.3) for _ in range(8)))
        assert sorted(claimed) == [False] * 7 + [True]
        assert await store.try_lock("home:U2", 10)
        await let_pass(0.35)
        assert await store.try_lock("home:U1", 10)
        assert not await store.try_lock("home:U1", 10)

    # ------------------------------------------------------------------ indexes

    async def test_due_is_a_peek_in_order_of_time(self, store: Store, let_pass: Pass):
        """Given deadlines past and to come, then what is past is due, the latest last, at each look."""
        now = await store.now()
        ids: dict[float, str] = {}
        for late in (-1.0, -30.0, -2.0, 3600.0):
            review, event = review_of(now=now, partitions=store.partitions)
            ids[late] = review.id
            assert await store.commit(Write(review, event, {}, now + late, None, False))

        assert set(await store.due_reviews()) == {ids[-30.0], ids[-2.0], ids[-1.0]}
        if store.partitions == 1:
            assert await store.due_reviews() == [ids[-30.0], ids[-2.0], ids[-1.0]]
            assert await store.due_reviews(limit=2) == [ids[-30.0], ids[-2.0]]

    async def test_what_comes_due_is_due_then_and_not_before(self, store: Store, let_pass: Pass):
        """By the store's clock."""
        review, event = review_of(now=await store.now(), partitions=store.partitions)
        soon = await store.now() + 0.3
        await store.commit(Write(review, event, {}, soon, soon, False))
        assert await store.due_reviews() == []
        assert await store.ready_reviews(review.agent) == []

        await let_pass(0.3)

        assert await store.due_reviews() == [review.id]
        assert await store.ready_reviews(review.agent) == [review.id]

    async def test_an_index_follows_the_newest_write(self, store: Store):
        """Moved to another time, or taken out with None."""
        now = await store.now()
        review, event = review_of(now=now, partitions=store.partitions)
        await store.commit(Write(review, event, review.args, now - 1, now - 1, False))
        assert await store.due_reviews() == await store.ready_reviews(review.agent) == [review.id]

        review = review.model_copy(update={"version": 2})
        head = await chain_of(store, review.id)
        await store.commit(Write(review, event, {}, now + 3600, None, False, head))
        assert await store.due_reviews() == await store.ready_reviews(review.agent) == []

        review = review.model_copy(update={"version": 3})
        head = await chain_of(store, review.id)
        await store.commit(Write(review, event, {}, None, now - 1, False, head))
        assert await store.due_reviews() == []
        assert await store.ready_reviews(review.agent) == [review.id]

    async def test_how_much_there_is_to_do(self, store: Store):
        """Counted without what is done; the oldest, and what has been due for the longest."""
        assert await store.workload() == (0, None, None)
        now = await store.now()
        for age, due in ((5.0, None), (50.0, now + 60), (20.0, now - 3), (1.0, now - 7)):
            review, event = review_of(now=now - age, partitions=store.partitions)
            await store.commit(Write(review, event, {}, due, None, False))
        await finished(store, await created(store))

        gauge = await store.workload()

        assert gauge == (4, pytest.approx(now - 50, abs=1e-3), pytest.approx(now - 7, abs=1e-3))

    async def test_live_is_what_is_not_done_the_oldest_first(self, store: Store, let_pass: Pass):
        """Whatever its thread and agent; a page at a time."""
        old = await created(store, thread_id="one")
        await let_pass(0.002)
        new = await created(store, thread_id="two", agent="support")
        await let_pass(0.002)
        gone = await created(store, thread_id="three")
        assert await store.live_ids() == [old.id, new.id, gone.id]

        await finished(store, gone)
        await approved(store, old)

        assert await store.live_ids() == [old.id, new.id]
        assert await store.live_ids(limit=1) == [old.id]
        [first] = await store.live_reviews(limit=1)
        assert first == (pytest.approx(old.created_at), old.id)
        assert [seat.id for seat in await store.live_reviews(5, first)] == [new.id]
        assert await store.live_reviews(5, (await store.live_reviews())[-1]) == []

    async def test_faults_8_pages_miss_none_of_the_same_time(self, store: Store):
        """Given reviews of one moment, then each is on one page, however short these are."""
        now = await store.now()
        made = [
            review_of([call("ask")], now=now, thread_id=f"t-{n}", partitions=store.partitions)
            for n in range(7)
        ]
        for each in made:
            assert await store.commit(write_of(each))
        found, after = [], None
        while page := await store.live_reviews(2, after):
            found += [seat.id for seat in page]
            after = page[-1]
        assert found == sorted(review.id for review, _ in made)

    async def test_ready_is_an_agents_own_in_order(self, store: Store):
        """The longest waiting first, no other agent's, at most `limit`."""
        now = await store.now()
        ids: list[str] = []
        for waited in (5, 50, 20):
            review, event = review_of(now=now, partitions=store.partitions, thread_id="one")
            ids.append(review.id)
            await store.commit(Write(review, event, {}, None, now - waited, False))
        other, event = review_of(agent="support", now=now, partitions=store.partitions)
        await store.commit(Write(other, event, {}, None, now - 1, False))

        assert await store.ready_reviews("billing") == [ids[1], ids[2], ids[0]]
        assert await store.ready_reviews("billing", limit=1) == [ids[1]]
        assert await store.ready_reviews("support") == [other.id]
        assert await store.ready_reviews("nobody") == []

    async def test_a_thread_lists_the_live_reviews_first(self, store: Store, let_pass: Pass):
        """Each part in the order of submission or completion; another thread's are not there."""
        first = await created(store, thread_id="mine")
        await let_pass(0.002)
        second = await created(store, thread_id="mine")
        await let_pass(0.002)
        third = await created(store, thread_id="mine")
        await created(store, thread_id="other")
        assert await store.thread_ids("mine") == [first.id, second.id, third.id]

        await finished(store, second)
        await let_pass(0.002)
        await finished(store, first)

        assert await store.thread_ids("mine") == [third.id, second.id, first.id]
        assert await store.thread_ids("nobody's") == []

    async def test_a_thread_is_read_in_pages(self, store: Store, let_pass: Pass):
        """A page has at most `limit`; a review that becomes done between two pages is on one of them, and
        so is each of those after it.
        """
        made: list[Review] = []
        for _ in range(6):
            made.append(await created(store, thread_id="long"))
            await let_pass(0.002)
        await finished(store, made[0])
        ids = [review.id for review in made]
        assert await store.thread_ids("long", 2) == ids[1:3]
        first = await store.thread_reviews("long", 2)
        assert [(each.id, each.is_done) for each in first] == [(id, False) for id in ids[1:3]]

        await let_pass(0.002)
        await finished(store, made[1])
        found, after = [*first], first[-1]
        while page := await store.thread_reviews("long", 2, after):
            assert len(page) <= 2
            found, after = [*found, *page], page[-1]

        assert [each.id for each in found] == [*ids[1:6], ids[0], ids[1]]
        assert [each.is_done for each in found[-2:]] == [True, True]
        assert await store.thread_reviews("long", 2, found[-1]) == []

    async def test_a_reader_of_live_reviews_reads_no_done_ones(self, store: Store):
        """However many are done: only pages with live ones are read, and one more."""
        for _ in range(3):
            await finished(store, await created(store, thread_id="long"))
        live = await created(store, thread_id="long")
        reviews = Reviews(store)
        assert [id async for id in reviews.live_ids("long")] == [live.id]
        listed = [each async for each in reviews.thread_reviews("long")]
        assert [each.is_done for each in listed] == [False, True, True, True]

    async def test_cards_10_ids_are_found_by_their_beginning(self, store: Store):
        """Live or done; never by a pattern, and at most as many as asked for."""
        live, done = await created(store), await created(store)
        await finished(store, done)
        for review in (live, done):
            assert await store.find_ids(short_id(review.id)) == [review.id]
            assert await store.find_ids(review.id) == [review.id]
        assert await store.find_ids(short_id(live.id), live=True) == [live.id]
        assert await store.find_ids(short_id(done.id), live=True) == []
        for prefix in ("0-*", "0-????", "*", "", "0-zzzz", "9-0000", f"{live.id}0"):
            assert await store.find_ids(prefix) == []
            assert await store.find_ids(prefix, live=True) == []

    # ------------------------------------------------------------------ hints

    async def test_hints_begin_where_the_first_call_stood(self, store: Store):
        """The first call answers at once with nothing; later hints arrive once, in order."""
        await created(store, thread_id="before")
        assert await store.agent_hints("billing", 10) == []

        first = await created(store, thread_id="one")
        second = await created(store, thread_id="one")

        assert await store.agent_hints("billing", 10) == [first.id, second.id]
        assert await store.agent_hints("billing", 0.01) == []

    async def test_a_hint_ends_the_wait(self, store: Store):
        """Given a listener, when a review settles, then the listener is told at once."""
        review = await created(store)
        await store.agent_hints("billing", 0)
        listener = asyncio.create_task(store.agent_hints("billing", 20))

        await approved(store, review)

        assert await asyncio.wait_for(listener, 15) == [review.id]

    async def test_hints_of_others_and_silent_writes_are_not_heard(self, store: Store):
        """Only this agent's, and only where the write says so."""
        await store.agent_hints("billing", 0)
        await created(store, agent="support")
        quiet = review_of(now=await store.now(), partitions=store.partitions)
        await store.commit(write_of(quiet, wake=False))

        assert await store.agent_hints("billing", 0.02) == []

    async def test_changes_are_everybodys(self, store: Store):
        """Of any agent, settled or not; bookkeeping is no change."""
        assert await store.changes(10) == []
        mine = await created(store)
        listener = asyncio.create_task(store.changes(20))
        assert await asyncio.wait_for(listener, 15) == [mine.id]

        listener = asyncio.create_task(store.changes(20))
        other = await created(store, agent="support", thread_id="another")
        await stepped(store, claims.set_waiting_process(other, "p1", await store.now()))

        assert await asyncio.wait_for(listener, 15) == [other.id]
        assert await store.changes(0.02) == []

    # ------------------------------------------------------------------ tokens

    async def test_a_token_is_kept_until_it_is_dropped(self, store: Store):
        """One agent may have several, and their texts are not stored."""
        old, text = Token.issue("billing", "the invoice run", 5.0)
        new, _ = Token.issue("billing", "", 6.0)
        await store.save_token(new)
        await store.save_token(old)

        assert await store.tokens() == [old, new]
        assert (kept := await store.token(old.id)) == old
        assert kept is not None
        assert kept.matches(text)
        assert text.split("_", 2)[2] not in kept.model_dump_json()

        assert await store.drop_token(old.id)
        assert not await store.drop_token(old.id)
        assert await store.token(old.id) is None
        assert await store.tokens() == [new]

    # ------------------------------------------------------------------ what a channel keeps

    async def test_a_channels_values_stay_until_they_are_dropped(self, store: Store):
        """Any bytes under any name, and other channels have their own."""
        assert await store.channel_values("teams") == {}
        await store.save_channel_value("teams", "conversation:19:ä@thread", b"\x00{}")
        await store.save_channel_value("teams", "name:Ops", b"old")
        await store.save_channel_value("teams", "name:Ops", b"new")
        await store.save_channel_value("other", "name:Ops", b"other")

        expected = {"conversation:19:ä@thread": b"\x00{}", "name:Ops": b"new"}
        assert await store.channel_values("teams") == expected

        await store.drop_channel_value("teams", "name:Ops")
        await store.drop_channel_value("teams", "name:Ops")
        del expected["name:Ops"]
        assert await store.channel_values("teams") == expected
        assert await store.channel_values("other") == {"name:Ops": b"other"}

    async def test_the_first_of_a_channels_values_counts(self, store: Store):
        """Given bots that make the same value at the same time, then all get the one that is stored."""
        given = [bytes([n]) * 32 for n in range(8)]
        got = await asyncio.gather(
            *(store.add_channel_value("teams", "button-key", one) for one in given)
        )
        assert len({*got}) == 1
        assert got[0] in given
        assert await store.channel_values("teams") == {"button-key": got[0]}

    # ------------------------------------------------------------------ lanes

    async def test_a_queue_is_in_the_order_of_submission(self, store: Store, let_pass: Pass):
        """Given reviews that come while one is being shown, then each is begun in turn, once (faults 9)."""
        reviews: list[str] = []
        for _ in range(5):
            reviews.append((await created(store, thread_id="t")).id)
            await let_pass(0.001)
        assert await store.lanes() == [DEFAULT_PLACE]

        done = await finish_all(store)

        assert [job.review_id for job in done] == reviews
        assert {(job.kind, job.attempts) for job in done} == {("card", 1)}
        assert await store.lanes() == []

    async def test_a_lane_is_held_by_one_bot(self, store: Store, let_pass: Pass):
        assert await store.hold_lanes(["a", "b"], "bot-1", 0.3) == {"a", "b"}
        assert await store.hold_lanes(["a", "c"], "bot-2", 0.3) == {"c"}
        assert await store.hold_lanes(["a"], "bot-1", 0.3) == {"a"}
        await store.release_lane("a", "bot-2")
        assert await store.hold_lanes(["a"], "bot-2", 0.3) == set()
        await store.release_lane("a", "bot-1")
        assert await store.hold_lanes(["a", "b"], "bot-2", 0.3) == {"a"}
        await let_pass(0.35)
        assert await store.hold_lanes(["a", "b"], "bot-1", 0.3) == {"a", "b"}
        assert await store.hold_lanes([], "bot-1", 0.3) == set()

    async def test_an_event_wakes_the_bots(self, store: Store):
        """A bot that waits is woken by the write itself, and told in which lane."""
        await store.lane_hints(0.01)
        reader = asyncio.create_task(store.lane_hints(20))
        await asyncio.sleep(0)

        await created(store)

        assert await asyncio.wait_for(reader, 15) == [DEFAULT_PLACE]

    async def test_bookkeeping_changes_no_card(self, store: Store):
        """What changes no card gives no bot anything to do: awaited, claimed, renewed, started."""
        review = await created(store)
        review = await approved(store, review)
        await finish_all(store)
        at = await store.now()

        review = await stepped(store, claims.set_waiting_process(review, "p1", at))
        review = await stepped(store, claims.claim(review, "p1", at, 30))
        review = await stepped(store, claims.renew(review, 1, at, 30))
        review = await stepped(store, claims.start(review, 1, "1", at))
        assert await store.lanes() == []

        await stepped(store, claims.report(review, 1, {"1": "sent"}, at))
        assert [job.review_id for job in await finish_all(store)] == [review.id]

    async def test_what_was_begun_and_never_finished_is_begun_again(
        self, store: Store, let_pass: Pass
    ):
        """Given a job whose bot died, then the next bot has it, counted, and with its first time."""
        review = await created(store)
        [first] = await begin_all(store)
        await let_pass(0.02)
        [second] = await begin_all(store)
        [third] = await begin_all(store)
        assert [job.attempts for job in (first, second, third)] == [1, 2, 3]
        assert {job.first_at for job in (first, second, third)} == {first.first_at}

        await store.put_back_job(third)
        [last] = await begin_all(store)
        assert (last.attempts, last.review_id) == (2, review.id), "an orderly end counts once"

    async def test_who_began_last_finishes(self, store: Store):
        """Faults 1: given two bots that draw one card, in whatever order they end, then the one that began
        first doesn't end the other's, and where it comes last the message is checked at once."""
        for first_ends_last in (False, True):
            review = await created(store)
            [one] = await begin_all(store)
            [two] = await begin_all(store)
            ends = [two, one] if first_ends_last else [one, two]
            assert [await store.finish_job(job) for job in ends] == [job is two for job in ends]
            left = await finish_all(store)
            assert [(job.kind, job.review_id) for job in left] == [("check", review.id)]

    async def test_two_jobs_of_one_card_are_not_alone(self, store: Store):
        """Faults 1: given one bot that checks a card, and another one that draws it, then in whatever order
        they end it is drawn once more."""
        for reverse in (False, True):
            review = await created(store)
            await finish_all(store)
            await store.redraw(review.id, DEFAULT_PLACE)
            [check] = await begin_all(store)
            await approved(store, review)  # which a person did, so it comes first
            [card] = await begin_all(store)
            assert (check.kind, card.kind) == ("check", "card")
            ends = [card, check] if reverse else [check, card]

            assert [await store.finish_job(job) for job in ends] == [job is card for job in ends]

            assert [job.kind for job in await finish_all(store)] == ["check"]

    async def test_what_changes_while_it_is_drawn_is_drawn_again(self, store: Store):
        review = await created(store)
        [job] = await begin_all(store)
        await approved(store, review)

        assert await store.finish_job(job)

        assert await store.take_job(job.lane, "post") is None, "it is shown already"
        [again] = await begin_all(store)
        assert (again.review_id, again.attempts) == (review.id, 1)
        await store.finish_job(again)
        assert await store.lanes() == []

    async def test_what_people_changed_comes_first(self, store: Store, let_pass: Pass):
        """Faults 9: given cards that are shown, of which one lapsed and then another one was decided, and one
        that was never shown; then the decided one is drawn first, and no post waits for a drawing."""
        one, two = await created(store), await created(store)
        await finish_all(store)
        at = await store.now()
        new = await created(store)
        await stepped(store, commands.cancel(one, None, "why", at))
        await let_pass(0.01)
        await approved(store, two)

        post = await store.take_job(DEFAULT_PLACE, "post")
        draws: list[str] = []
        while job := await store.take_job(DEFAULT_PLACE, "draw"):
            draws.append(job.review_id)
            await store.finish_job(job)

        assert post is not None
        assert post.review_id == new.id
        assert draws == [two.id, one.id]

    async def test_a_check_comes_later(self, store: Store, let_pass: Pass):
        """Faults 2: given a drawing whose answer was lost, then it is looked at once more later."""
        review = await created(store)
        [job] = await begin_all(store)
        await store.finish_job(job, Recheck("sweep", 0.2, "12.5"))
        assert (await store.lanes(), await store.lanes(later=True)) == ([], [DEFAULT_PLACE])
        assert await store.take_job(job.lane, "draw") is None

        await let_pass(0.25)

        [check] = await begin_all(store)
        assert (check.kind, check.review_id, check.note) == ("sweep", review.id, "12.5")
        assert await store.finish_job(check)
        assert (await store.backlog()).waiting == 0

    async def test_a_check_at_once_replaces_no_later_check(self, store: Store, let_pass: Pass):
        """Given an update without an answer, and a press on its old card, which is drawn at once; then the
        card is still checked later, because the update may be applied after that."""
        review = await created(store)
        await finish_all(store)
        await approved(store, review)
        [job] = await begin_all(store)
        await store.redraw(review.id, DEFAULT_PLACE)
        await store.finish_job(job, Recheck("check", 0.2))

        at_once = await finish_all(store)
        assert [each.kind for each in at_once] == ["check"]
        await let_pass(0.25)
        assert [each.kind for each in await finish_all(store)] == ["check"]
        assert (await store.backlog()).waiting == 0

    async def test_a_job_of_two_bots_is_checked_at_once_and_later(
        self, store: Store, let_pass: Pass
    ):
        """Given two bots that drew one card, and the last one had an update without an answer."""
        await created(store)
        [one] = await begin_all(store)
        [two] = await begin_all(store)
        await store.finish_job(one)
        await store.finish_job(two, Recheck("check", 0.2))

        assert [each.kind for each in await finish_all(store)] == ["check"]
        await let_pass(0.25)
        assert [each.kind for each in await finish_all(store)] == ["check"]

    async def test_of_two_later_checks_the_last_time_and_the_first_note_count(
        self, store: Store, let_pass: Pass
    ):
        """Given two posts without an answer, then the later one decides when it is looked for copies, and
        the earlier one since when."""
        review = await created(store)
        [job] = await begin_all(store)
        await store.finish_job(job, Recheck("sweep", 0.1, "9.5"))
        for delay, since in ((0.4, "12.5"), (0.0, "10.5")):
            await store.redraw(review.id, DEFAULT_PLACE)
            [job] = await begin_all(store)
            await store.finish_job(job, Recheck("sweep", delay, since))

        await let_pass(0.15)
        assert await begin_all(store) == []
        await let_pass(0.3)
        [sweep] = await begin_all(store)
        assert (sweep.kind, sweep.note) == ("sweep", "9.5")

    async def test_a_later_check_that_is_added_while_one_runs_stays(
        self, store: Store, let_pass: Pass
    ):
        review = await created(store)
        [job] = await begin_all(store)
        await store.finish_job(job, Recheck("sweep", 0.0, "9.5"))
        [running] = await begin_all(store)
        await store.redraw(review.id, DEFAULT_PLACE)
        check = await store.take_job(running.lane, "draw", [running.member])
        assert check
        await store.finish_job(check, Recheck("sweep", 0.3, "9.5"))

        await store.finish_job(running)

        # One check at once, because two jobs of the card ran; the later one waits.
        assert [each.kind for each in await finish_all(store)] == ["check"]
        await let_pass(0.35)
        assert [each.kind for each in await finish_all(store)] == ["sweep"]

    async def test_a_redraw_is_asked_for_once(self, store: Store):
        review = await created(store)
        await finish_all(store)
        await store.redraw(f"0-{'f' * 32}", DEFAULT_PLACE)
        await store.redraw("nonsense", DEFAULT_PLACE)
        for _ in range(3):
            await store.redraw(review.id, DEFAULT_PLACE)
            await store.redraw(review.id, DEFAULT_PLACE, "stray", "slack C1 1.1")
        draws = await finish_all(store)
        notes = {job.kind: job.note for job in draws}
        assert notes == {"check": "3", "stray": "slack C1 1.1"}
        assert len(draws) == 2

    async def test_a_later_redraw_is_done_besides_one_at_once(self, store: Store, let_pass: Pass):
        review = await created(store)
        await finish_all(store)
        await store.redraw(review.id, DEFAULT_PLACE, delay=0.1)
        await store.redraw(review.id, DEFAULT_PLACE, delay=0.3)  # the last time counts
        await store.redraw(f"0-{'f' * 32}", DEFAULT_PLACE, delay=0.1)
        assert await finish_all(store) == []
        await store.redraw(review.id, DEFAULT_PLACE)
        assert [each.kind for each in await finish_all(store)] == ["check"]
        await let_pass(0.35)
        assert [each.kind for each in await finish_all(store)] == ["check"]
        assert await finish_all(store) == []

    async def test_finished_twice_is_nothing_but_a_check(self, store: Store):
        await created(store)
        [job] = await begin_all(store)
        assert await store.finish_job(job)
        assert not await store.finish_job(job)
        assert [each.kind for each in await finish_all(store)] == ["check"]

    async def test_the_backlog_is_counted(self, store: Store, let_pass: Pass):
        assert await store.backlog() == (0, None)
        first = await created(store)
        await let_pass(0.01)
        await created(store)
        waiting, oldest = await store.backlog()
        assert (waiting, oldest) == (2, pytest.approx(first.created_at, abs=0.001))

    async def test_who_waits_has_taken_no_slot(self, store: Store, let_pass: Pass):
        """Given 50 callers that wait and never call; when the slot is free, then the next one may call."""
        assert await store.take_slot("update", 60) == 0
        assert all([0 < await store.take_slot("update", 60) <= 60 for _ in range(50)])

        assert await store.take_slot("post", 0.2) == 0
        await let_pass(0.25)
        assert await store.take_slot("post", 0.2) == 0

    async def test_a_job_that_is_skipped_stays_in_its_queue(self, store: Store):
        first, second = await created(store), await created(store)
        lane = lane_of(DEFAULT_PLACE)
        job = await store.take_job(lane, "post")
        assert job
        await store.put_back_job(job)
        other = await store.take_job(lane, "post", [job.member])
        assert other
        assert {job.review_id, other.review_id} == {first.id, second.id}
        assert await store.take_job(lane, "post", [job.member, other.member]) is None
        again = await store.take_job(lane, "post")
        assert again
        assert again.member == job.member

    async def test_turns_are_shared(self, store: Store, let_pass: Pass):
        """Each turn is one call, a few may come at once, and a pause is everybody's."""
        assert [await store.take_slot("one", 10) for _ in range(3)] == [
            pytest.approx(at, abs=0.5) for at in (0, 10, 10)
        ]
        assert [await store.take_slot("many", 10, 3) for _ in range(4)] == [
            pytest.approx(at, abs=0.5) for at in (0, 0, 0, 10)
        ]
        assert [await store.take_slot("free", 0) for _ in range(3)] == [0, 0, 0]
        await store.pause_slots("free", 0.2)
        assert await store.take_slot("free", 0) > 0
        await let_pass(0.25)
        assert await store.take_slot("free", 0) == 0

    async def test_first_posts_are_ordered_by_when_they_should_be_shown(self, store: Store):
        """Given three reviews, of which the last one ends soon; then its card is first, and the others follow
        in the order of submission."""
        now = await store.now()
        writes = [
            write_of(review_of(thread_id=f"t-{n}", now=now - 10 + n), wake=True)._replace(
                show_by=at
            )
            for n, at in enumerate((None, now - 9, now - 1800))
        ]
        for write in writes:
            assert await store.commit(write)
        shown: list[str] = []
        while job := await store.take_job(DEFAULT_PLACE, "post"):
            await store.finish_job(job)
            shown.append(job.review_id)
        assert shown == [writes[n].review.id for n in (2, 0, 1)]
        assert (await store.lanes(), (await store.backlog()).waiting) == ([], 0)

    async def test_first_cards_are_taken_into_a_digest_once(self, store: Store):
        """Given four first cards, of which one was begun; then the others are one digest's, in the order of
        their lane, whose message is a first post; a further one joins it; and the begun one is done alone."""
        ids = await waiting_cards(store, 5)
        begun = await store.take_job(DEFAULT_PLACE, "post")
        assert begun
        assert begun.review_id == ids[0]
        assert await store.first_posts(DEFAULT_PLACE, 9) == [(one, DEFAULT_PLACE) for one in ids]
        place = DEFAULT_PLACE

        id = await store.add_to_digest(place, place, "g", "billing", ids[:4])
        assert id
        assert is_digest_id(id)
        digest = await store.digest(id)
        assert digest == Digest(
            id, place, place, "billing", None, tuple(ids[1:4]), tuple(ids[1:4]), 3
        )
        snapshot = await store.load(ids[1])
        assert snapshot
        assert (digest_at(snapshot, place), digest_at(snapshot, OPS)) == (id, None)
        assert await store.add_to_digest(place, place, "g", "billing", ids[:4]) is None
        await store.finish_job(begun)
        job = await store.take_job(place, "post")
        assert job
        assert (job.kind, job.review_id, job.place) == ("digest", id, place)
        assert await store.record_digest_message(id, HERE) == HERE
        assert await store.record_digest_message(id, THERE) == HERE
        await store.finish_new(id, ids[1:4])
        await store.finish_job(job)

        assert await store.add_to_digest(place, place, "g", "billing", ids[4:]) == id
        [again] = await begin_all(store)
        assert (again.kind, again.review_id) == ("digest", id)
        await store.finish_job(again)
        digest = await store.digest(id)
        assert digest
        assert (digest.message, digest.waiting, digest.new) == (HERE, tuple(ids[1:]), (ids[4],))
        assert (digest.total, await begin_all(store)) == (4, [])

    async def test_digests_hide_no_card_behind_them(self, store: Store):
        """Given two digests that wait for their message before some cards; then the first cards are those
        behind them: a lane with more cards than it should have made no digest."""
        ids, place = await waiting_cards(store, 5), DEFAULT_PLACE
        for group, one in (("g", ids[0]), ("h", ids[1])):
            assert await store.add_to_digest(place, place, group, "billing", [one])
        assert await store.first_posts(place, 2) == [(one, place) for one in ids[2:4]]
        assert await store.first_posts(place, 9) == [(one, place) for one in ids[2:]]

    async def test_a_digest_counts_what_waits(self, store: Store):
        """Each change is one job of its message; what is no change is none."""
        ids, place = await waiting_cards(store, 2), DEFAULT_PLACE
        id = await store.add_to_digest(place, place, "g", "billing", ids[:1])
        assert id
        await store.record_digest_message(id, HERE)
        await finish_all(store)

        await store.update_digest(id, ids[0], waits=True)
        assert [job.kind for job in await finish_all(store)] == []
        await store.update_digest(id, ids[0], waits=False)
        await store.update_digest(id, ids[0], waits=False)
        assert [job.kind for job in await finish_all(store)] == ["digest"]
        digest = await store.digest(id)
        assert digest
        assert (digest.waiting, digest.total) == ((), 1)
        await store.update_digest(id, ids[0], waits=True)
        digest = await store.digest(id)
        assert digest
        assert digest.new == (ids[0],), "it may have left before the message was there"
        assert [job.kind for job in await finish_all(store)] == ["digest"]
        await store.redraw_digest(id)
        assert [job.kind for job in await finish_all(store)] == ["digest"]
        assert await store.record_digest_message(id, THERE, HERE) == THERE
        assert not await store.update_digest(f"d0-{'f' * 32}", ids[0], waits=True)
        assert await store.digest(f"d0-{'f' * 32}") is None
        assert await store.digest("nonsense") is None
        digest = await store.digest(id)
        assert digest
        assert (digest.waiting, digest.new) == ((ids[0],), (ids[0],))

    async def test_a_digest_that_is_done_takes_no_more(self, store: Store):
        """Given a digest whose message is posted and where nothing waits any more; when more reviews come,
        then they get a digest with a new message, because a change of a message notifies nobody."""
        ids, place = await waiting_cards(store, 2), DEFAULT_PLACE
        first = await store.add_to_digest(place, place, "g", "billing", ids[:1])
        assert first
        await store.record_digest_message(first, HERE)
        await store.update_digest(first, ids[0], waits=False)

        second = await store.add_to_digest(place, place, "g", "billing", ids[1:])

        assert second
        assert second != first
        digest = await store.digest(second)
        assert digest
        assert (digest.message, digest.waiting) == (None, (ids[1],))

    async def test_a_digest_without_a_message_takes_nothing_back(self, store: Store):
        """Given a digest of which nothing waits before it is posted; when a review waits again, then the
        digest says that it will not show it, and it gets a card of its own."""
        review, place = await created(store), DEFAULT_PLACE
        id = await store.add_to_digest(place, place, "g", "billing", [review.id])
        assert id
        assert await store.update_digest(id, review.id, waits=True)
        assert await store.update_digest(id, review.id, waits=False)
        assert not await store.update_digest(id, review.id, waits=True)
        await finish_all(store)
        for _ in range(2):
            await store.leave_digest(id, place, [review.id])
        assert [job.kind for job in await finish_all(store)] == ["card"]
        snapshot = await store.load(review.id)
        assert snapshot
        assert digest_at(snapshot, place) is None

    async def test_a_review_that_leaves_a_digest_has_no_message(self, store: Store):
        """And the digest's own is updated. The others stay."""
        ids, place = await waiting_cards(store, 2), DEFAULT_PLACE
        id = await store.add_to_digest(place, place, "g", "billing", ids)
        assert id
        await store.record_digest_message(id, HERE)
        for one in ids:
            await store.record_post(one, place, HERE)
            await store.record_shown_version(one, place, 1)
        await finish_all(store)
        await store.leave_digest(id, place, ids[:1])
        assert {(job.kind, job.review_id) for job in await finish_all(store)} == {
            ("digest", id),
            ("card", ids[0]),
        }
        alone, stays = [await store.load(one) for one in ids]
        assert alone
        assert stays
        assert (alone.posts, alone.shown) == ({}, {})
        assert stays.posts == {place: HERE}
        digest = await store.digest(id)
        assert digest
        assert digest.waiting == (ids[1],)

    async def test_a_review_that_leaves_a_digest_in_its_own_job_gets_a_card(self, store: Store):
        """Given a job of a review that takes it out of its digest; when that job is done, then its first card
        is still to do: it was taken for the job that had just been done."""
        review, place = await created(store), DEFAULT_PLACE
        id = await store.add_to_digest(place, place, "g", "billing", [review.id])
        assert id
        await store.record_digest_message(id, HERE)
        await finish_all(store)
        await store.redraw(review.id, place, "card")
        [job] = await begin_all(store)
        await store.leave_digest(id, place, [review.id])
        await store.finish_job(job)
        assert "card" in [job.kind for job in await finish_all(store)]

    async def test_a_digest_is_bounded(self, store: Store):
        """Given a digest that has no room for all that comes; then a new one takes them."""
        ids, place = await waiting_cards(store, 3), DEFAULT_PLACE
        first = await store.add_to_digest(place, place, "g", "billing", ids[:1])
        padding = [f"0-{n:032x}" for n in range(MAX_DIGEST - 2)]
        second = await store.add_to_digest(place, place, "g", "billing", [ids[1], *padding])
        assert first == second
        third = await store.add_to_digest(place, place, "g", "billing", [ids[2], *padding])
        assert third not in (None, first)

    async def test_a_digest_that_can_not_be_shown_gives_its_cards_back(self, store: Store):
        """In their order, and for good: they come into no digest again."""
        place = DEFAULT_PLACE
        [first, *later] = await waiting_cards(store, 2)
        id = await store.add_to_digest(place, place, "g", "billing", [first])
        assert id
        [job] = await begin_all(store)
        await store.dissolve_digest(id, place)
        await store.finish_job(job)
        digest = await store.digest(id)
        assert digest
        assert (digest.closed, digest.waiting) == (True, ())
        assert not await store.update_digest(id, first, waits=True)
        assert await store.add_to_digest(place, place, "g", "billing", [first]) is None
        [card] = await begin_all(store)
        assert (card.kind, card.review_id, card.place) == ("card", first, place)
        snapshot = await store.load(first)
        assert snapshot
        assert digest_at(snapshot, place) is None
        await store.finish_job(card)
        other = await store.add_to_digest(place, place, "g", "billing", later)
        assert other not in (None, id)
        await finish_all(store)
        assert (await store.lanes(), (await store.backlog()).waiting) == ([], 0)

    async def test_dead_letters_come_back_when_they_are_asked_for(self, store: Store):
        """Given a buried job, then nobody gets it; revived, it is one that was begun before."""
        review = await created(store)
        [job] = await begin_all(store)
        await store.move_to_dead_letters(job, "channel_not_found")
        await store.move_to_dead_letters(job, "channel_not_found")
        assert await store.lanes() == []

        assert await store.requeue_dead_letters() == 1
        assert await store.requeue_dead_letters() == 0

        [back] = await begin_all(store)
        assert (back.review_id, back.place, back.attempts) == (review.id, job.place, 2)

    async def test_what_changes_while_it_is_buried_is_tried_again(self, store: Store):
        """Promise 4: as a job with an earlier attempt, which may have posted a message. Otherwise the next
        one would post a second message without a look."""
        review = await created(store)
        [job] = await begin_all(store)
        await approved(store, review)

        await store.move_to_dead_letters(job, "channel_not_found")

        assert await store.count_dead_letters() == 0
        [again] = await begin_all(store)
        assert (again.attempts, again.first_at) == (2, job.first_at)

    async def test_the_dead_letters_of_a_review_are_one(self, store: Store):
        """Given two buried jobs of one review and one of another, then two reviews are counted; revived, each
        place comes back once."""
        one = await created(store)
        [job] = await begin_all(store)
        await store.move_to_dead_letters(job, "channel_not_found")
        await store.redraw(one.id, Place("slack:#ops"))
        [check] = await begin_all(store)
        await store.move_to_dead_letters(check, "not_in_channel")
        other = await created(store, thread_id="other")
        [third] = await begin_all(store)
        await store.move_to_dead_letters(third, "it can't be read")
        assert await store.count_dead_letters() == 2

        assert await store.requeue_dead_letters() == 2
        assert await store.count_dead_letters() == 0

        back = {(job.review_id, job.place) for job in await finish_all(store)}
        assert back == {
            (one.id, DEFAULT_PLACE),
            (one.id, "slack:#ops"),
            (other.id, DEFAULT_PLACE),
        }

    async def test_a_dead_letter_is_found_retried_and_dropped(self, store: Store):
        """Each says why; one of them is tried again, the other is dropped, each once."""
        buried: list[tuple[str, str]] = []
        for why in ("first", "second"):
            review = await created(store, thread_id=why)
            [job] = await begin_all(store)
            await store.move_to_dead_letters(job, why)
            buried.append((review.id, why))

        one, two = await store.dead_letters()
        assert [one] == await store.dead_letters(1)
        assert [(each.review_id, each.why) for each in (one, two)] == buried
        assert abs(one.at - await store.now()) < 60
        assert await store.dead_letter(two.id) == two
        for id in ("", "nonsense", "0:1-1", "99:1-1", f"0:{1 << 70}-0"):
            assert await store.dead_letter(id) is None

        assert [await store.requeue_dead_letter(one) for _ in range(2)] == [True, False]
        assert [await store.drop_dead_letter(two) for _ in range(2)] == [True, False]
        assert not await store.requeue_dead_letter(two)
        assert (await store.dead_letters(), await store.count_dead_letters()) == ([], 0)
        [back] = await begin_all(store)
        assert (back.review_id, back.attempts) == (buried[0][0], 2)
        await store.finish_job(back)
        assert await begin_all(store) == []

    # ------------------------------------------------------------------ heartbeats

    async def test_a_process_is_alive_until_its_last_beat_is_old(
        self, store: Store, let_pass: Pass
    ):
        """Each beat counts again."""
        assert not await store.is_alive("p1")
        await store.send_heartbeat("p1", 0.2)
        assert await store.is_alive("p1")
        assert not await store.is_alive("p2")
        await store.send_heartbeat("p1", 10)
        await let_pass(0.25)
        assert await store.is_alive("p1")
        await store.send_heartbeat("p1", 0.05)
        await let_pass(0.06)

        async def gone() -> bool:
            return not await store.is_alive("p1")

        await wait_until("the beat is old", gone)

    # ------------------------------------------------------------------ held reviews

    async def test_t54_a_held_review_stays_as_it_is_until_its_release(self, store: Store):
        """Given reviews that are held; then nothing is written for them and none is due or ready; what is new
        goes on; the release of one puts it back."""
        one, two = await created(store, thread_id="one"), await created(store, thread_id="two")
        ready = await approved(store, two)
        assert await store.hold_live_reviews() == 2
        new = await created(store, thread_id="three")

        snapshot = await store.load(one.id)
        assert snapshot is not None
        assert snapshot.held
        decision = await next_write(store, decided(one, await store.now()))
        assert not await store.commit(decision)
        await store.unschedule(ready.id, ready.agent)
        assert await store.due_reviews() == []
        assert await store.ready_reviews(ready.agent) == []
        held = await store.held_reviews()  # both may be of one moment
        assert {each.id for each in held} == {one.id, two.id}
        assert await store.commit(await next_write(store, decided(new, await store.now())))

        assert await store.commit(decision._replace(releases=True))
        outline = await store.load_outline(one.id)
        assert outline is not None
        assert not outline.held
        assert (await store.check_history()).held == 1

    async def test_a_release_that_knows_less_than_is_stored_is_a_conflict(self, store: Store):
        """Given a release that was decided before an agent noted that it has started a call; then it must be
        decided again, with that."""
        review = await created(store)
        await store.hold_live_reviews()
        write = (await next_write(store, decided(review, 1.0)))._replace(releases=True)
        await store.record_mark(review.id, "read:anything else")
        await store.record_mark(review.id, f"{STARTED_MARK}1")
        assert not await store.commit(write)

        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert snapshot.held
        assert await store.commit(write._replace(started_marks=len(snapshot.started_marks)))

    async def test_a_review_is_held_since_the_first_hold(self, store: Store, let_pass: Pass):
        """Given a second hold, with a new review; then each says since when it is held; released and held
        again, since the last hold."""
        begin, first = await store.now(), await created(store)
        await store.hold_live_reviews()
        await let_pass(0.01)
        between, second = await store.now(), await created(store)
        await store.hold_live_reviews()
        since = {each.id: each.since for each in await store.held_reviews()}
        assert begin - 0.001 <= since[first.id] < between <= since[second.id] + 0.001
        for id, at in since.items():
            for load in (store.load, store.load_outline):
                snapshot = await load(id)
                assert snapshot is not None
                assert snapshot.held_since == at

        released = (await next_write(store, decided(first, 1.0)))._replace(releases=True)
        assert await store.commit(released)
        snapshot = await store.load(first.id)
        assert snapshot is not None
        assert snapshot.held_since is None
        await let_pass(0.01)
        await store.hold_live_reviews()
        again = {each.id: each.since for each in await store.held_reviews()}
        assert again[first.id] > again[second.id] == since[second.id]

    async def test_all_live_reviews_are_held_however_many(self, store: Store):
        live = {(await created(store, thread_id=f"t-{n}")).id for n in range(1001)}
        assert await store.hold_live_reviews() == len(live)
        assert {each.id for each in await store.held_reviews(2000)} == live

    async def test_a_vote_to_cancel_is_stored_and_the_review_is_still_held(self, store: Store):
        review = await created(store)
        await store.hold_live_reviews()
        write = await next_write(store, decided(review, await store.now()))
        assert await store.commit(write._replace(stays_held=True, due_at=None, ready_at=None))
        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert (snapshot.held, snapshot.review.version) == (True, 2)
        assert await store.ready_reviews(review.agent) == []

    async def test_the_history_is_another_one_after_a_hold(self, store: Store):
        await store.check_history()
        before = store.history
        await store.check_history()
        assert store.history == before
        await store.hold_live_reviews()
        assert store.history != before

    async def test_a_review_that_is_not_held_is_not_unscheduled(self, store: Store):
        review = await approved(store, await created(store))
        before = await store.ready_reviews(review.agent)
        await store.unschedule(review.id, review.agent)
        assert await store.ready_reviews(review.agent) == before
