"""What a person did becomes a reply. Each click needs one load of the review and one check of the person's
rights.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.inbox import ActionRef, Choose, Inbox, Reply
from bot.people import Directory, People
from hitl_core.model import Event, Grant, Place, Reviewer, Snapshot
from hitl_core.review import Decide, DecideAll, Proposal, Reviews
from hitl_core.review.edits import proposal as proposals
from hitl_core.store import MemoryStore
from tests.support.builders import call, policy, proposal, review_of

ONLY_ALICE = {"reviewers": {"users": ["U0ALICE"]}, "notify": "slack:#team-ops"}
DECISIONS = ["approve", "edit", "reject", "respond"]


class CountingStore(MemoryStore):
    loads = 0
    refusals: tuple[str | None, ...] = ()
    audit_hangs = False

    async def load(self, review_id: str) -> Snapshot | None:
        self.loads += 1
        return await super().load(review_id)

    async def record_event(self, review_id: str, event: Event) -> None:
        if self.audit_hangs:
            await asyncio.Event().wait()
        self.refusals = (*self.refusals, event.what)
        await super().record_event(review_id, event)


class CountingDirectory(Directory):
    checks = 0

    async def check_can_decide(
        self, who: Reviewer, snapshot: Snapshot, grants: Iterable[Grant]
    ) -> None:
        self.checks += 1
        await super().check_can_decide(who, snapshot, grants)


@pytest.fixture
def store() -> CountingStore:
    return CountingStore()


@pytest.fixture
async def directory(channel: SlackChannel) -> CountingDirectory:
    return CountingDirectory(Channels(channel))


@pytest.fixture
async def inbox(store: CountingStore, directory: CountingDirectory, channel: SlackChannel) -> Inbox:
    return Inbox(Reviews(store), directory)


@pytest.fixture
def alice(channel: SlackChannel) -> Reviewer:
    return Reviewer(channel="slack", team=channel.team, id="U0ALICE", name="Alice")


@pytest.fixture
def bob(channel: SlackChannel) -> Reviewer:
    return Reviewer(channel="slack", team=channel.team, id="U0BOB", name="Bob")


async def submit_calls(store: MemoryStore, count: int = 1, **rule: Any) -> str:
    by = policy(mail={**ONLY_ALICE, "allowed_decisions": DECISIONS, **rule})
    review, event = review_of([call("mail", f"c{n}", n=n) for n in range(count)], by=by)
    await Reviews(store).submit(review, event)
    return review.id


async def pressed(store: MemoryStore, command: Decide) -> Decide:
    """With the seal of a card that shows all of the action."""
    review = (await Reviews(store).load(command.review_id)).review
    seal = review.seal(command.action, is_whole=True)
    return replace(command, proposal=command.proposal._replace(seal=seal))


async def test_a_click_loads_once_and_the_reply_has_the_new_review(
    inbox: Inbox, store: CountingStore, directory: CountingDirectory, alice: Reviewer
) -> None:
    review_id = await submit_calls(store, 2)
    command = await pressed(store, Decide(review_id, "1", proposal(), alice, "op"))
    loads = store.loads

    reply = await inbox.apply(command)

    assert (reply.code, reply.text) == ("ok", "")
    assert (store.loads - loads, directory.checks) == (1, 1)
    assert reply.snapshot is not None
    assert reply.snapshot.review == (await Reviews(store).load(review_id)).review


async def test_the_next_page_of_the_review_modal_loads_and_checks_nothing(
    inbox: Inbox, store: CountingStore, directory: CountingDirectory, alice: Reviewer
) -> None:
    """Given a click in the Review modal, when its next page is loaded with the reply's review, then nothing
    is loaded, and the permission is not checked again."""
    review_id = await submit_calls(store, 2)
    command = await pressed(store, Decide(review_id, "1", proposal(), alice, "op"))
    reply = await inbox.apply(command)
    loads, checks = store.loads, directory.checks

    page = await inbox.access.load_at_place(
        review_id, Place("slack:#team-ops"), alice, reply.snapshot
    )

    assert page.review.actions[0].decision is not None
    assert (store.loads, directory.checks) == (loads, checks)


async def test_a_sent_edit_is_loaded_and_judged_once(
    inbox: Inbox,
    store: CountingStore,
    directory: CountingDirectory,
    alice: Reviewer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged, real = list[str](), proposals.judge_edit

    def counting(*args: Any) -> Any:
        judged.append("judged")
        return real(*args)

    monkeypatch.setattr(proposals, "judge_edit", counting)
    review_id = await submit_calls(store)
    target = ActionRef(review_id, "1", 1)
    edit = await pressed(store, Decide(review_id, "1", proposal("edit", n=7), alice, "op"))
    loads = store.loads

    seen, _ = await inbox.access.load_for_decision(target, "edit", alice, "op")
    reply = await inbox.apply(edit, seen)

    assert reply.code == "ok"
    assert (store.loads - loads, directory.checks, len(judged)) == (1, 1, 1)


async def test_what_another_person_has_seen_permits_nothing(
    inbox: Inbox, store: CountingStore, alice: Reviewer, bob: Reviewer
) -> None:
    """Given a review that Alice may decide, when Bob's command comes with what she has seen, then it is
    loaded and checked for him, and refused."""
    review_id = await submit_calls(store)
    seen = await inbox.access.load_for_view(ActionRef(review_id, "1", 1), alice)

    reply = await inbox.apply(Decide(review_id, "1", proposal(), bob, "op"), seen)

    assert (reply.code, reply.snapshot) == ("not_permitted", None)
    assert store.refusals == ("not_permitted",)
    assert (await Reviews(store).load(review_id)).review.status == "pending"


async def test_a_refusal_is_answered_while_the_audit_hangs(
    inbox: Inbox, store: CountingStore, bob: Reviewer
) -> None:
    """Given a store that never ends to write a refusal, then the person gets the answer all the same."""
    review_id = await submit_calls(store)
    store.audit_hangs = True
    reply = await inbox.apply(Decide(review_id, "1", proposal(), bob, "op"))
    assert reply.code == "not_permitted"


async def test_a_click_that_was_stored_before_counts_once(
    inbox: Inbox, store: CountingStore, alice: Reviewer
) -> None:
    review_id = await submit_calls(store)
    command = await pressed(store, Decide(review_id, "1", proposal("edit", n=7), alice, "op"))
    first, again = await inbox.apply(command), await inbox.apply(command)
    assert first.code == again.code == "ok"
    assert (await Reviews(store).load(review_id)).review.version == 2


async def test_approve_all_is_one_command(
    inbox: Inbox, store: CountingStore, alice: Reviewer
) -> None:
    review_id = await submit_calls(store, 3)
    seal = (await Reviews(store).load(review_id)).review.seal("1", "2", "3", is_whole=True)
    plans = {key: Proposal("approve", 1) for key in ("1", "2", "3")}

    stale = await inbox.apply(DecideAll(review_id, plans, alice, "op1", "another"))
    reply = await inbox.apply(DecideAll(review_id, plans, alice, "op2", seal))

    assert (stale.code, reply.code) == ("stale", "ok")
    assert reply.snapshot is not None
    assert reply.snapshot.review.status == "settled"


async def test_approve_all_that_is_refused_says_what_and_why(
    inbox: Inbox, store: CountingStore, alice: Reviewer
) -> None:
    """Given two actions of which Alice may not decide one, or must leave one to others; then her Approve all
    says so, and that nothing was approved."""
    alone, bobs = {"users": ["U0ALICE"]}, {"users": ["U0BOB"]}
    others = {"users": ["U0ALICE", "U0BOB"], "editor_approves": False}
    for second, kind, texts in (
        (bobs, None, ("Only “Bob Reyes”", "So nothing was approved: decide one by one.")),
        (others, "edit", ("two: You made this edit yourself", "So nothing was approved")),
    ):
        rules = {"one": {"reviewers": alone}, "two": {"reviewers": second}}
        by = policy(**{name: {**rule, "must_read": False} for name, rule in rules.items()})
        review, event = review_of([call("one", "c1"), call("two", "c2", n=1)], by=by)
        await Reviews(store).submit(review, event)
        plans = {"1": Proposal("approve", 1), "2": Proposal("approve", 1)}
        if kind is not None:
            plans["2"] = Proposal("approve", 2)
            edit = Decide(review.id, "2", proposal("edit", n=7), alice, "op0")
            assert (await inbox.apply(await pressed(store, edit))).code == "ok"
        reply = await inbox.apply(DecideAll(review.id, plans, alice, f"op{kind}"))
        assert all(text in reply.text for text in texts), reply.text
        newest = (await Reviews(store).load(review.id)).review
        assert all(action.is_pending for action in newest.actions)


@pytest.mark.parametrize(("number", "code"), [(1, "ok"), (2, "unknown_action")])
async def test_a_choice_is_the_answer_with_its_number(
    inbox: Inbox, store: CountingStore, alice: Reviewer, number: int, code: str
) -> None:
    schema = {"type": "string", "enum": ["roads", "rivers"]}
    review_id = await submit_calls(store, answer_schema=schema, allowed_decisions=["respond"])

    reply = await inbox.apply(Choose(ActionRef(review_id, "1", 1), number, alice, "op"))

    assert reply.code == code
    decision = (await Reviews(store).load(review_id)).review.actions[0].decision
    assert (decision and decision.answer) == ("rivers" if code == "ok" else None)


async def test_a_large_edit_needs_what_the_policy_lets_alice_read(
    inbox: Inbox, store: CountingStore, alice: Reviewer
) -> None:
    """Given an action that must be read and that no card shows whole, when Alice approves it, then she must
    read it first, and the reply has the review so that it opens without a load; then her approval counts."""
    by = policy(mail={**ONLY_ALICE, "must_read": True})
    review, event = review_of([call("mail", text="x" * 9000)], by=by)
    await Reviews(store).submit(review, event)

    reply = await inbox.apply(Decide(review.id, "1", proposal(), alice, "op1"))

    assert reply.code == "unread"
    target = ActionRef(review.id, "1", 1)
    assert reply.unread is not None
    assert reply.unread.target == target
    loads = store.loads
    await inbox.access.load_for_view(target, alice, reply.snapshot)
    assert store.loads == loads

    await inbox.access.read_marks.record(target, alice)
    assert (await inbox.apply(Decide(review.id, "1", proposal(), alice, "op2"))).code == "ok"


async def vote_and_approve(
    store: MemoryStore, channel: SlackChannel, people: People, *votes: Decide
) -> Reply:
    """Each vote is cast before HITL_PEOPLE names `people`; the last decision after it."""
    *earlier, last = votes
    for vote in earlier:
        before = Inbox(Reviews(store), Directory(Channels(channel)))
        assert (await before.apply(await pressed(store, vote))).code == "ok"
    directory = Directory(Channels(channel), people)
    return await Inbox(Reviews(store), directory).apply(await pressed(store, last))


TWO = {"users": ["U0ALICE", "U0BOB", "U0DANA"], "quorum": 2, "exclude_requester": True}


@pytest.mark.parametrize(("kind", "counts"), [("approve", False), ("reject", True)])
async def test_a_vote_of_the_requesters_other_account_counts_no_more(
    store: CountingStore, channel: SlackChannel, bob: Reviewer, kind: Any, counts: bool
) -> None:
    """Given a vote of an account that HITL_PEOPLE later says is the requester's, when another person
    votes the same, then only a rejection is decided."""
    by = policy(it={"reviewers": {**TWO, "reject_quorum": 2}})
    review, event = review_of([call("it")], by=by, requester="U0ALICE")
    await Reviews(store).submit(review, event)
    dana = bob.model_copy(update={"id": "U0DANA", "name": "Dana"})
    people = People([("slack:U0ALICE", "slack:U0BOB")])
    reply = await vote_and_approve(
        store,
        channel,
        people,
        Decide(review.id, "1", proposal(kind), bob, "op1"),
        Decide(review.id, "1", proposal(kind), dana, "op2"),
    )
    assert reply.code == "ok"
    [action] = (await Reviews(store).load(review.id)).review.actions
    assert (action.decision is not None) == counts
    assert [vote.by.id for vote in action.votes] == (["U0BOB", "U0DANA"] if counts else ["U0DANA"])


async def test_a_vote_of_the_editors_other_account_counts_no_more(
    store: CountingStore, channel: SlackChannel, alice: Reviewer, bob: Reviewer
) -> None:
    """The same for who made the edit: they approve it with no account."""
    people_of_rule = {
        "users": ["U0ALICE", "U0BOB", "U0DANA"],
        "quorum": 2,
        "editor_approves": False,
    }
    review, event = review_of([call("it", n=1)], by=policy(it={"reviewers": people_of_rule}))
    await Reviews(store).submit(review, event)
    dana = bob.model_copy(update={"id": "U0DANA", "name": "Dana"})
    reply = await vote_and_approve(
        store,
        channel,
        People([("slack:U0ALICE", "slack:U0BOB")]),
        Decide(review.id, "1", proposal("edit", n=2), alice, "op1"),
        Decide(review.id, "1", proposal("approve", 2), bob, "op2"),
        Decide(review.id, "1", proposal("approve", 2), dana, "op3"),
    )
    assert reply.code == "ok"
    [action] = (await Reviews(store).load(review.id)).review.actions
    assert action.is_pending
