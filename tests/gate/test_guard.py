"""A plain function behind the gate, async and sync, and the gate for code without an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hitl_core import Gate, Policy
from hitl_core.errors import LeaseLost, Rejected
from hitl_core.gate import blocking
from hitl_core.model import Reviewer, ToolCall, encode
from hitl_core.review.service import Reviews
from hitl_core.review.transitions import Proposal
from hitl_core.store import MemoryStore, RedisStore

ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice Ng")
POLICY = Policy.from_mapping(
    {
        "default": "deny",
        "interrupt_on": {
            "add": {"allowed_decisions": ["approve", "edit", "reject", "respond"]},
            "read": False,
        },
    }
)


async def decide(store: Any, proposal: Proposal) -> None:
    """Decide the first action of the next review, as a bot's reader would see it."""
    reviews = Reviews(store)
    while True:
        for hint in await store.read_events("alice", block=5):
            review = (await reviews.load(hint.review_id)).review
            if review.status == "pending":
                await reviews.decide(review.id, "1", proposal, ALICE, f"op:{review.id}")
                return


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
async def gate(store: MemoryStore) -> AsyncIterator[Gate]:
    async with Gate(store, policy=POLICY, agent="script") as gate:
        yield gate


async def test_an_approved_call_runs_and_returns_its_result(gate: Gate, store: MemoryStore) -> None:
    @gate.guard
    async def add(a: int, /, b: int = 2, **more: int) -> int:
        return a + b + sum(more.values())

    total, _ = await asyncio.gather(add(1, c=3), decide(store, Proposal("approve", 1)))

    assert total == 6
    (review_id,) = store._reviews
    review = store._reviews[review_id]
    assert review.arguments("1").parse() == {"a": 1, "b": 2, "c": 3}
    assert review.status == "done"
    assert review.runs["1"].line == "6"


async def test_an_edited_call_runs_with_what_was_decided(gate: Gate, store: MemoryStore) -> None:
    seen: list[int] = []

    def add(a: int, b: int) -> None:
        seen.append(threading.get_ident())
        seen.extend([a, b])

    edited = Proposal("edit", 1, args=encode({"a": 10, "b": 20}))
    await asyncio.gather(gate.guard(add)(a=1, b=2), decide(store, edited))

    assert seen[1:] == [10, 20]
    assert seen[0] != threading.get_ident()  # a sync function doesn't hold up the loop


async def test_a_rejected_call_raises_what_a_model_would_be_told(
    gate: Gate, store: MemoryStore
) -> None:
    @gate.guard
    async def add(a: int) -> int:
        raise AssertionError("it ran")

    refused = asyncio.create_task(add(1))
    await decide(store, Proposal("reject", 1, "too much"))

    with pytest.raises(Rejected, match="too much"):
        await refused


async def test_an_answer_in_its_place_is_returned(gate: Gate, store: MemoryStore) -> None:
    @gate.guard
    async def add(a: int) -> int:
        raise AssertionError("it ran")

    answered, _ = await asyncio.gather(add(1), decide(store, Proposal("respond", 1, "seven")))

    assert answered == "seven"


async def test_the_policy_allows_and_denies_without_asking(gate: Gate) -> None:
    async def say(word: str) -> str:
        return word

    assert await gate.guard(say, name="read")("hello") == "hello"
    with pytest.raises(Rejected, match="policy doesn't allow `drop`"):
        await gate.guard(say, name="drop")("hello")


async def test_an_edit_that_the_function_can_not_take_does_not_run(
    gate: Gate, store: MemoryStore
) -> None:
    @gate.guard
    async def add(a: int) -> int:
        raise AssertionError("it ran")

    task = asyncio.create_task(add(1))
    await decide(store, Proposal("edit", 1, args=encode({"a": 1, "x": 2})))

    with pytest.raises(Rejected, match="hold x"):
        await task


async def test_a_function_that_raises_is_reported_without_its_words(
    gate: Gate, store: MemoryStore
) -> None:
    @gate.guard
    async def read(path: str) -> str:
        raise OSError(f"no such file: {path}")

    with pytest.raises(OSError, match="secret"):
        await read("secret")

    (review,) = store._reviews.values()
    assert review.runs["1"].line == "failed: OSError"


async def test_a_script_that_runs_again_finds_what_was_decided(
    gate: Gate, store: MemoryStore
) -> None:
    ran: list[int] = []

    async def add(a: int) -> None:
        ran.append(a)

    async def script(gate: Gate) -> None:
        with gate.thread("nightly-7"):
            await gate.guard(add)(1)

    # given a script that died while it waited
    died = asyncio.create_task(script(gate))
    await decide(store, Proposal("reject", 1, "not tonight"))
    with pytest.raises(Rejected):
        await died
    # when it runs again before anything else was decided, the first review is done: it asks anew
    again = asyncio.create_task(script(gate))
    await decide(store, Proposal("approve", 1))
    await again

    assert ran == [1]
    assert len(store._reviews) == 2


async def test_promise_1_an_edit_may_name_the_keywords_themselves(
    gate: Gate, store: MemoryStore
) -> None:
    """Given an edit with an argument called as `**more` is, then it is not lost on the way."""
    ran: list[Any] = []

    @gate.guard
    async def add(a: int, **more: int) -> None:
        ran.append((a, more))

    edited = Proposal("edit", 1, args=encode({"a": 1, "b": 2, "more": 3}))
    await asyncio.gather(add(1), decide(store, edited))

    assert ran == [(1, {"b": 2, "more": 3})]


async def test_promise_1_a_keyword_of_a_parameters_name_is_refused(gate: Gate) -> None:
    """What is shown could not be told apart from what runs."""

    @gate.guard
    async def add(a: int, /, **more: int) -> int:
        raise AssertionError("it ran")

    with pytest.raises(TypeError, match="'a' is a parameter's name"):
        await add(1, **{"a": 2})
    with pytest.raises(TypeError, match="'more' is a parameter's name"):
        await add(1, **{"more": 2})


def test_a_function_with_star_args_is_refused() -> None:
    gate = Gate(MemoryStore(), policy=POLICY, agent="script")
    with pytest.raises(TypeError, match=r"takes \*args"):
        gate.guard(lambda *a: a, name="add")


def test_the_blocking_gate_does_the_same_without_a_loop(redis_url: str) -> None:
    """Given a script with no event loop, when somebody decides, it goes on; settled() serves as well."""

    def approve() -> None:
        async def work() -> None:
            store = await RedisStore.open(redis_url)
            for _ in range(3):
                await decide(store, Proposal("approve", 1))
            await store.close()

        asyncio.run(work())

    approver = threading.Thread(target=approve)
    approver.start()
    calls = [ToolCall("c1", "add", {"a": 1})]
    with blocking.connect(redis_url, policy=POLICY, agent="script") as gate:
        outcome = gate.review(calls, thread_id="t-1")
        assert [gate_call.args for gate_call in outcome.execute] == [{"a": 1}]
        assert outcome.once(outcome.execute[0])
        assert not outcome.once(outcome.execute[0])
        outcome.done({"c1": "one"})

        def add(a: int) -> int:
            return a + 1

        with gate.thread("t-2", requester="U0MARIA"):
            assert gate.guard(add)(a=41) == 42

        review_id = gate.submit(calls, thread_id="t-3")
        settled = next(iter(gate.settled()))
        assert settled.review_id == review_id
        settled.done({"c1": "done"})
        with pytest.raises(LeaseLost):
            settled.report({"c1": "late"})
    approver.join(10)
    assert not approver.is_alive()
