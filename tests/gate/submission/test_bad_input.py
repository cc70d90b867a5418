"""Bad input gets one clear sentence. With a gate, people who decide, and a real Redis."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from hitl_core.errors import GateClosed, InvalidToolCall, PolicyError, Refused
from hitl_core.gate import Gate, blocking
from hitl_core.model import ToolCall
from hitl_core.store import MemoryStore
from tests.gate.outcomes import approve
from tests.support.builders import approve_all, call, policy


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([], "There is no tool call to review"),
        ([call(id="a"), call(id="b"), call(id="a")], "Two calls of this turn have the id 'a'"),
        ([call(id=f"c{n}") for n in range(101)], "at most 100 tool calls, not 101"),
        ([call(big="x" * 300_000)], "the limit is 262,144"),
        ([call(n=float("nan"))], "can't be written as JSON"),
        ([call(x={1: 2})], "must be text, not of type int"),
        ([call(x="\ud83d")], "half a surrogate pair"),
    ],
    ids=["none", "twice", "many", "big", "nan", "keys", "surrogate"],
)
async def test_promise_10_a_turn_that_cannot_be_reviewed_is_one_sentence(
    gate: Gate, calls: list[ToolCall], reason: str
):
    """And nothing is stored."""
    with pytest.raises(InvalidToolCall, match=reason):
        await gate.submit(calls, thread_id="t")
    assert await gate.reviews.store.thread_ids("t") == []


@pytest.mark.parametrize(
    "where",
    [{"thread_id": ""}, {"thread_id": 7}, {"thread_id": None}, {"thread_id": "\ud800"},
     {"turn": "\ud800"}, {"requester": "\ud800"}, {"turn": 7}],
    ids=repr,
)  # fmt: skip
async def test_promise_10_a_turn_without_a_proper_name_is_one_sentence(
    gate: Gate, where: dict[str, Any]
):
    with pytest.raises(InvalidToolCall, match=f"The {next(iter(where))} must be text"):
        await gate.submit([call()], **{"thread_id": "t", **where})


def test_a_policy_may_be_given_as_the_path_of_its_file(tmp_path: Path):
    """Anything else is an error at once, and not at the first review."""
    file = tmp_path / "policy.yaml"
    file.write_text("default: deny\ninterrupt_on: {}\n")
    for path in (file, str(file)):
        gate = Gate(MemoryStore(), policy=path, agent="billing")
        assert gate.policy.default.kind == "deny"
    with pytest.raises(PolicyError, match="The file does not exist"):
        Gate(MemoryStore(), policy=str(tmp_path / "missing.yaml"), agent="billing")
    wrong: Any = {"default": "deny"}
    with pytest.raises(
        TypeError, match="`policy` must be a Policy or the path of its file, not dict"
    ):
        Gate(MemoryStore(), policy=wrong, agent="billing")


async def test_an_id_that_is_no_call_of_this_review_is_refused(gate: Gate):
    """`done({"wrong-id": …})` says so, whether `once` was asked or not; nothing is kept."""
    outcome = await approve(gate, call(id="c1"))
    for wrong in (outcome.finish({"wrong-id": "sent"}), outcome.report({"wrong-id": "sent"})):
        with pytest.raises(Refused, match="no call 'wrong-id'; it has 'c1'") as refused:
            await wrong
        assert refused.value.code == "unknown_call"
    assert (await gate.reviews.load(outcome.review_id)).review.status == "claimed"
    await outcome.finish({"c1": "sent"})


async def test_a_closed_gate_says_that_it_is_closed(redis_url: str):
    """Not that its store is closed."""
    async with Gate.connect(redis_url, policy=policy(), agent="billing") as gate:
        review_id = await gate.submit([call()], thread_id="t")
    for late in (
        gate.submit([call()], thread_id="t2"),
        gate.review([call()], thread_id="t3"),
        gate.cancel(review_id),
        gate.withdraw(review_id),
    ):
        with pytest.raises(GateClosed, match="gate is"):
            await late


async def test_a_gate_that_no_block_opened_says_how_to_open_it():
    """Given `Gate.connect(…)` without `async with`, then its use says so in one sentence, whatever it is."""
    connection: Any = Gate.connect(policy=policy(), agent="billing")
    with pytest.raises(GateClosed, match=r"`async with Gate\.connect"):
        connection.review([call()], thread_id="t")
    with pytest.raises(GateClosed, match=r"`async with Gate\.connect"):
        await connection
    with pytest.raises(GateClosed, match=r"`async with Gate\.connect"), connection:
        pass
    assert not hasattr(connection, "anything")
    blocking_connection: Any = blocking.connect(policy=policy(), agent="billing")
    with pytest.raises(GateClosed, match=r"`with blocking\.connect"):
        blocking_connection.review([call()], thread_id="t")
    with pytest.raises(GateClosed, match=r"`with blocking\.connect"):
        async with blocking_connection:
            pass


@pytest.mark.parametrize("way", ["wait", "outcomes"])
async def test_what_was_decided_before_the_clock_was_set_back_is_claimed(way: str):
    """Given a review that people decided while no process ran; when the store's clock is set back by an hour
    and a process starts, then it gets the review, and not when that hour is over."""
    clock = [10_000.0]
    store = MemoryStore(lambda: clock[0])
    async with Gate(store, policy=policy(), agent="billing") as gate:
        review_id = await gate.submit([call()], thread_id="t")
        await approve_all(gate.reviews, review_id)
    clock[0] -= 3600

    async with Gate(store, policy=policy(), agent="billing") as gate, asyncio.timeout(30):
        outcome = await (gate.wait(review_id) if way == "wait" else anext(gate.outcomes()))

    assert [each.name for each in outcome.execute] == ["ask"]


async def test_a_dead_process_holds_a_review_for_one_lease_though_the_clock_was_set_back():
    """Given a process that died after it claimed a review; when the store's clock is set back by an hour,
    then a process that waits gets the review after one lease, and not when that hour is over."""
    set_back = [0.0]
    store = MemoryStore(lambda: time.time() - set_back[0])
    gate = Gate(store, policy=policy(), agent="billing", lease=0.2)
    async with gate:
        review_id = await gate.submit([call()], thread_id="t")
        await approve_all(gate.reviews, review_id)
        (await gate.wait(review_id)).release()
    set_back[0] = 3600.0

    async with Gate(store, policy=policy(), agent="billing") as gate, asyncio.timeout(20):
        outcome = await gate.wait(review_id)

    assert [each.name for each in outcome.execute] == ["ask"]
