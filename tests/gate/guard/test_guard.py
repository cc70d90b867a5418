"""A plain function with `Gate.guard`, async and sync."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from hitl_core import Gate, Rejected
from hitl_core.model import encode
from hitl_core.review import claims
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.gate.guard.deciding import ALICE, POLICY, decide
from tests.support.builders import approve_all
from tests.support.waiting import wait_until


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


async def test_what_an_edit_removes_does_not_come_back_as_a_default(
    gate: Gate, store: MemoryStore
) -> None:
    """Given a function with a default that its card showed; then a call without it does not run, and its card
    says why. None is the same as nothing."""
    ran: list[Any] = []

    @gate.guard
    async def add(a: int, copy_to: str = "everybody", note: str | None = None) -> None:
        ran.append((a, copy_to, note))

    task = asyncio.create_task(add(1))
    await decide(store, Proposal("edit", 1, args=encode({"a": 1, "note": None})))
    with pytest.raises(Rejected, match="lack copy_to, and add would use its default"):
        await task

    assert ran == []
    (review,) = store._reviews.values()
    assert (review.runs["1"].line or "").startswith("failed: The decided arguments lack copy_to")

    edited = Proposal("edit", 1, args=encode({"a": 1, "copy_to": "nobody"}))
    await asyncio.gather(add(1), decide(store, edited))
    assert ran == [(1, "nobody", None)]


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

    with pytest.raises(Rejected, match="have x, which add does not take"):
        await task
    (review,) = store._reviews.values()
    assert review.status == "done"  # nobody is asked later whether it ran
    assert review.runs["1"].line == "failed: The decided arguments have x, which add does not take."


async def test_a_function_that_raises_is_reported_without_its_text(
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
    # when it runs again before anything else was decided, the first review is done: it asks again
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

    with pytest.raises(TypeError, match="'a' has the name of a parameter"):
        await add(1, **{"a": 2})
    with pytest.raises(TypeError, match="'more' has the name of a parameter"):
        await add(1, **{"more": 2})


async def test_a_script_that_runs_again_in_another_order_finds_what_was_decided(
    gate: Gate, store: MemoryStore
) -> None:
    """Given a script killed while it waited for two calls; when it runs again and the first is no longer
    wanted, then the second has its decision, and nobody is asked twice."""
    ran: list[int] = []

    @gate.guard
    async def add(a: int) -> None:
        ran.append(a)

    async def script(*wanted: int) -> None:
        with gate.thread("nightly-7"):
            await asyncio.gather(*(add(a) for a in wanted))

    died = asyncio.create_task(script(1, 2, 2))
    await wait_until("all are asked for", lambda: len(store._reviews) == 3)
    died.cancel()
    await asyncio.gather(died, return_exceptions=True)
    for review_id in list(store._reviews):
        await approve_all(Reviews(store), review_id)
    await script(2, 2)

    assert ran == [2, 2]
    assert len(store._reviews) == 3


async def test_a_call_in_doubt_that_a_person_says_ran_is_not_run_again(
    store: MemoryStore,
) -> None:
    """Given a process that died while the function ran; when it runs again and a person says that it ran;
    then the call returns with that answer."""
    ran: list[int] = []
    never = asyncio.Event()

    async def add(a: int) -> None:
        ran.append(a)
        await never.wait()

    async with Gate(store, policy=POLICY, agent="script", lease=0.2) as gate:

        async def script() -> object:
            with gate.thread("nightly-7"):
                return await gate.guard(add)(1)

        died = asyncio.create_task(script())
        await decide(store, Proposal("approve", 1))
        await wait_until("it runs", lambda: ran)
        died.cancel()
        await asyncio.gather(died, return_exceptions=True)
        again = asyncio.create_task(script())
        (review_id,) = store._reviews
        await wait_until("a person is asked", lambda: store._reviews[review_id].calls_in_doubt)
        await gate.reviews.change(
            review_id, "click", lambda r, now: claims.resolve(r, "1", "ran", ALICE, now)
        )

        assert await again == "`add` ran; its result was lost. “Alice Ng” (U0ALICE) confirmed it."
    assert ran == [1]


async def test_a_threads_reason_is_the_reason_of_its_calls(gate: Gate, store: MemoryStore) -> None:
    @gate.guard
    async def add(a: int) -> int:
        return a

    with gate.thread("t-why", reason="The sum is due."):
        await asyncio.gather(add(1), decide(store, Proposal("approve", 1)))

    (review,) = store._reviews.values()
    assert review.calls[0].reason == "The sum is due."
