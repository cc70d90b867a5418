"""A Home has a bounded size and cost, however many reviews wait."""

from __future__ import annotations

import asyncio
from weakref import ref

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.inbox import Home, HomeLoader, offload_home
from bot.inbox.home import index, loader
from bot.people.directory import Directory
from bot.people.humans import People
from hitl_core.errors import InvalidToolCall
from hitl_core.gate.submission import schemas
from hitl_core.gate.submission.calls import judge_calls
from hitl_core.model import Reviewer, Snapshot, ToolCall
from hitl_core.policy import Policy
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.service import Reviews
from hitl_core.store import MAX_DECIDED, MemoryStore
from tests.support.builders import call, policy, review_of

ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice")
TEAMS_ALICE = Reviewer(channel="teams", team="tenant", id="a11ce", name="Alice")


class CountingStore(MemoryStore):
    """Records what was read, and what of it is still in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.whole, self.outlines = 0, 0
        self.most_held = 0
        self._snapshots = list[ref[Snapshot]]()

    async def load(self, review_id: str) -> Snapshot | None:
        self.whole += 1
        return await super().load(review_id)

    async def load_outline(self, review_id: str) -> Snapshot | None:
        await asyncio.sleep(0)
        snapshot = await super().load_outline(review_id)
        self.whole -= 1  # the outline is made of it
        self.outlines += 1
        if snapshot is not None:
            self._snapshots.append(ref(snapshot))
        self.most_held = max(self.most_held, sum(one() is not None for one in self._snapshots))
        return snapshot


async def test_a_home_holds_one_page_of_arguments(channel: SlackChannel) -> None:
    """Given sixty reviews that wait for a person who also asked for them, when their Home is made, then only
    those of the page are read with their arguments, and of the others a few are held at a time."""
    store = CountingStore()
    reviews = Reviews(store)
    rule = {"reviewers": {"users": ["U0ALICE"]}}
    for _ in range(60):
        await reviews.submit(*review_of([call("it")], by=policy(it=rule), requester="U0ALICE"))

    home = await HomeLoader(reviews, Channels(channel), Directory(Channels(channel))).load_home(
        ALICE
    )

    assert (home.total, home.pages, len(home.mine)) == (60, 12, loader.PAGE_SIZE)
    assert store.outlines == 60
    assert store.whole <= 3 * loader.PAGE_SIZE
    assert store.most_held <= 2 * index.CONCURRENCY


async def test_a_home_checks_two_hundred_reviews_at_most(channel: SlackChannel) -> None:
    """Given more reviews that wait for a person who also asked for them than a Home checks, when it is made,
    then 200 are read, it says that there are more, and none of them waits for others."""
    store = CountingStore()
    reviews = Reviews(store)
    rule = {"reviewers": {"users": ["U0ALICE"]}}
    for number in range(index.MAX_CHECKED + 20):
        made = review_of(
            [call("it")], by=policy(it=rule), requester="U0ALICE", thread_id=f"t-{number}"
        )
        await reviews.submit(*made)

    home = await HomeLoader(reviews, Channels(channel), Directory(Channels(channel))).load_home(
        ALICE
    )

    assert store.outlines == home.total == index.MAX_CHECKED
    assert home.more
    assert home.others == ()


@pytest.mark.parametrize("voter", [ALICE, TEAMS_ALICE], ids=["herself", "in Teams"])
async def test_a_home_counts_no_review_on_which_the_person_voted(
    channel: SlackChannel, voter: Reviewer
) -> None:
    """Given more votes of a person than the store remembers, also by their other account, on reviews that
    wait for others, and newer reviews; when their Home is made, then only these are counted."""
    store = CountingStore()
    reviews = Reviews(store)
    by = policy(it={"reviewers": {"users": ["U0ALICE", "U0BOB"], "quorum": 2}})

    async def submit(thread: str) -> str:
        now = await store.now()
        made = review_of([call("it")], by=by, now=now, thread_id=thread)
        return (await reviews.submit(*made)).id

    for number in range(MAX_DECIDED + 20):
        vote = Proposal("approve", 1)
        await reviews.apply(Decide(await submit(f"t-{number}"), "1", vote, voter, f"op-{number}"))
    new = [await submit(f"n-{number}") for number in range(2)]

    directory = Directory(Channels(channel), People([{ALICE.key, TEAMS_ALICE.key}]))
    who = ALICE.model_copy(update={"aliases": (TEAMS_ALICE.key,)})
    home = await HomeLoader(reviews, Channels(channel), directory).load_home(who)

    assert [task.review.id for task in home.mine] == new
    assert home.total == len(new)
    assert store.outlines == index.MAX_CHECKED


async def test_the_schemas_that_a_review_keeps_are_bounded() -> None:
    """Given a long schema for each of many calls, when the turn is submitted, then a sentence says what to
    do."""
    schema = {"type": "object", "description": "x" * 60_000}
    by = Policy.from_mapping({"default": "review"})
    by = by.for_run({"interrupt_on": {"*": {"args_schema": schema}}})
    most = schemas.MAX_SCHEMAS // 60_000
    calls = [ToolCall(f"c{n}", "pay", {}) for n in range(most + 1)]
    await judge_calls(by, calls[:3])
    with pytest.raises(InvalidToolCall, match="Submit fewer"):
        await judge_calls(by, calls)


async def test_a_review_that_a_channel_can_not_draw_hides_no_other(
    channel: SlackChannel,
) -> None:
    """Given three reviews of which a channel can't draw one; then the Home has the other two, and counts the
    one as unreadable. If it can draw none, that is an error as before."""
    reviews = Reviews(MemoryStore())
    rule = {"reviewers": {"users": ["U0ALICE"]}}
    made = [review_of([call("it")], by=policy(it=rule)) for _ in range(3)]
    for one in made:
        await reviews.submit(*one)
    loader = HomeLoader(reviews, Channels(channel), Directory(Channels(channel)))
    home = await loader.load_home(ALICE)
    odd = made[1][0].id

    def draw(home: Home) -> tuple[list[str], int]:
        ids = [task.review.id for task in home.mine]
        if odd in ids:
            raise IndexError("odd")
        return ids, home.unreadable

    ids, unreadable = await offload_home(home, draw)
    assert (len(ids), unreadable) == (2, 1)

    def draw_nothing(home: Home) -> None:
        raise IndexError(len(home.mine))

    with pytest.raises(IndexError):
        await offload_home(home, draw_nothing)
