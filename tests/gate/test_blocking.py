"""The gate for code without an event loop, with a real Redis. People decide in another thread."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, assert_type

import pytest

from hitl_core import (
    Gate,
    GateClosed,
    LeaseLost,
    Outcome,
    Refused,
    Rejected,
    StoreUnavailable,
    ToolCall,
)
from hitl_core.errors import HitlError
from hitl_core.gate import blocking
from hitl_core.gate.blocking import BlockingGate, BlockingOutcome
from hitl_core.gate.blocking.loop import running_loop
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from tests.support.builders import person, policy, proposal
from tests.support.jobs import next_job

CALLS = [ToolCall("c1", "ask", {"n": 1})]
People = Callable[..., Future[None]]


@pytest.fixture
def gate(redis_url: str) -> Iterator[BlockingGate]:
    with blocking.connect(redis_url, policy=policy(), agent="script") as gate:
        yield gate


@pytest.fixture
def people(redis_url: str) -> Iterator[People]:
    """`people(proposal(…), …)`: so the next reviews are decided, one after the other."""

    async def decide(plans: tuple[Proposal, ...]) -> None:
        store = await RedisStore.open(redis_url)
        try:
            async with asyncio.timeout(30):
                for number, plan in enumerate(plans):
                    await _decide_next(store, plan, f"click:{number}")
        finally:
            await store.close()

    with ThreadPoolExecutor() as pool:
        yield lambda *plans: pool.submit(asyncio.run, decide(plans))


async def _decide_next(store: RedisStore, plan: Proposal, op: str) -> None:
    reviews = Reviews(store)
    while True:
        review = (await reviews.load((await next_job(store)).review_id)).review
        if review.status == "pending":
            await reviews.apply(Decide(review.id, "1", plan, person("Ada"), op))
            return


def test_review_and_settled_do_the_same_without_a_loop(gate: BlockingGate, people: People) -> None:
    clicks = people(proposal("approve"), proposal("approve"))

    outcome = gate.review(CALLS, thread_id="t-1")
    (call,) = outcome.execute
    assert outcome.once(call)
    assert not outcome.once(call)
    outcome.finish({"c1": "one"})

    review_id = gate.submit(CALLS, thread_id="t-3")
    settled = next(iter(gate.outcomes()))
    assert settled.review_id == settled.review.id == review_id
    settled.finish({"c1": "done"})
    with pytest.raises(LeaseLost):
        settled.report({"c1": "late"})
    clicks.result()


def test_a_review_may_be_withdrawn(gate: BlockingGate) -> None:
    review_id = gate.submit(CALLS, thread_id="t-1")
    gate.cancel(review_id, "the user went on")

    outcome = gate.wait(review_id)

    assert outcome.jump_to_model
    assert "the user went on" in outcome.answers[0].content
    with pytest.raises(Refused):
        gate.cancel(review_id)


def test_a_guarded_function_runs_in_the_thread_that_calls_it(
    gate: BlockingGate, people: People, tmp_path: Path
) -> None:
    """Given a connection that is good in its own thread only, as sqlite3's are, then a guarded function may
    use it; and what a person changed is what runs."""
    db = sqlite3.connect(tmp_path / "t.db")
    db.execute("CREATE TABLE t (n)")

    @gate.guard(name="ask")
    def insert(n: int) -> int:
        return db.execute("INSERT INTO t VALUES (?)", [n]).rowcount

    clicks = people(proposal("edit", n=7))
    with gate.thread("t-1", requester="U0MARIA"):
        assert assert_type(insert(1), int) == 1

    assert db.execute("SELECT n FROM t").fetchall() == [(7,)]
    db.close()
    clicks.result()


def test_what_an_edit_removes_does_not_come_back_as_a_default(
    gate: BlockingGate, people: People
) -> None:
    @gate.guard
    def ask(n: int, copy_to: str = "everybody") -> None:
        raise AssertionError("it ran")

    clicks = people(proposal("edit", n=7))

    with pytest.raises(Rejected, match="lack copy_to, and ask would use its default"):
        ask(1)
    clicks.result()


def test_a_rejected_call_and_one_that_fails_raise(gate: BlockingGate, people: People) -> None:
    @gate.guard
    def ask(n: int) -> None:
        raise OSError(f"{threading.current_thread().name} {n}")

    clicks = people(proposal("reject", message="not tonight"), proposal("approve"))

    with pytest.raises(Rejected) as refused:
        ask(1)
    assert str(refused.value) == "User rejected the tool call for `ask` with reason: not tonight"
    with pytest.raises(OSError, match="MainThread 2"):
        ask(2)
    clicks.result()


def test_an_answer_in_its_place_is_returned(gate: BlockingGate, people: People) -> None:
    @gate.guard
    def ask(n: int) -> str:
        raise AssertionError("it ran")

    clicks = people(proposal("respond", message="seven"))
    assert ask(1) == "seven"
    clicks.result()


def test_an_edit_that_the_function_can_not_take_does_not_run(
    gate: BlockingGate, people: People
) -> None:
    @gate.guard
    def ask(n: int) -> None:
        raise AssertionError("it ran")

    clicks = people(proposal("edit", n=1, m=2))
    with pytest.raises(Rejected, match="have m, which ask does not take"):
        ask(1)
    clicks.result()


def test_async_functions_are_refused(gate: BlockingGate) -> None:
    """At once where it can be seen, else before its result is taken for one."""

    async def look_up() -> None:
        raise AssertionError("it ran")

    def suspended_coroutine() -> Any:
        coroutines.append(look_up())
        return coroutines[0]

    coroutines: list[Coroutine[Any, Any, None]] = []
    with pytest.raises(TypeError, match=r"look_up is async: guard it with hitl_core\.Gate"):
        gate.guard(look_up)
    with pytest.raises(TypeError, match="look_hidden is async"):
        gate.guard(suspended_coroutine, name="look_hidden")()
    coroutines[0].close()


def test_a_gate_that_was_closed_says_so(redis_url: str) -> None:
    with blocking.connect(redis_url, policy=policy(), agent="script") as gate:
        outcome = gate.review([ToolCall("c1", "look_up", {})], thread_id="t")
        serving = gate.outcomes()

    with pytest.raises(GateClosed, match="use it inside its `with`"):
        outcome.finish()
    with pytest.raises(GateClosed):
        next(serving)


def test_without_a_url_a_gate_uses_the_redis_of_the_environment(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITL_REDIS_URL", redis_url)
    with blocking.connect(policy=policy(), agent="script") as gate:
        review_id = gate.submit(CALLS, thread_id="t")
    with blocking.connect(redis_url, policy=policy(), agent="script") as gate:
        gate.cancel(review_id)  # raises if it is not in this Redis


def test_a_call_that_comes_as_the_gate_closes_ends(redis_url: str) -> None:
    """attack 7, M1: given threads that call all the time while the gate closes, then each of their calls
    ends with an error of ours; none waits for a loop that has stopped."""

    def submit_all_the_time(number: int) -> None:
        while True:
            gate.submit(CALLS, thread_id=f"t-{number}", turn="one")

    for _ in range(20):
        with ThreadPoolExecutor() as pool:
            with blocking.connect(redis_url, policy=policy(), agent="script") as gate:
                calling = [pool.submit(submit_all_the_time, number) for number in range(4)]
                gate.submit(CALLS, thread_id="t-1")
            for each in calling:
                assert isinstance(each.exception(timeout=30), HitlError)


def test_work_that_comes_after_the_last_one_is_refused() -> None:
    """attack 7, M1: given work that runs when the loop ends, and work that comes then, then both end with
    GateClosed."""
    begun = threading.Event()

    async def wait_long() -> None:
        begun.set()
        await asyncio.sleep(3600)

    with ThreadPoolExecutor() as pool:
        with running_loop() as run:
            waiting = pool.submit(run, wait_long())
            assert begun.wait(30)
        with pytest.raises(GateClosed):
            waiting.result(timeout=30)
    with pytest.raises(GateClosed):
        run(wait_long())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_is_told_to_open_a_gate_of_its_own(gate: BlockingGate) -> None:
    """attack 7, M6: given a process that is forked while a gate is open, then its calls on that gate end with
    an error that says what to do, and the parent's gate goes on."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            gate.submit(CALLS, thread_id="t-child")
        except GateClosed as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    try:
        assert select.select([reading], [], [], 30)[0], "the call of the child does not end"
        assert b"before this process was forked" in os.read(reading, 1000)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
    gate.submit(CALLS, thread_id="t-parent")


def test_a_redis_that_does_not_answer_is_named() -> None:
    """And no thread is left behind."""
    before = threading.active_count()
    url = "redis://127.0.0.1:1/0"
    with (
        pytest.raises(StoreUnavailable, match=r"Redis at redis://127\.0\.0\.1:1/0 can't be"),
        blocking.connect(url, policy=policy(), agent="script"),
    ):
        raise AssertionError("it opened")
    assert threading.active_count() == before


@pytest.mark.parametrize(("ours", "theirs"), [(BlockingGate, Gate), (BlockingOutcome, Outcome)])
def test_it_is_the_same_gate(ours: type, theirs: type) -> None:
    """Whatever the gate and its outcome learn, code without an event loop can do as well."""
    public = {name for name in vars(theirs) if name[0] != "_"} - {"connect"}  # is beside it
    assert public <= set(vars(ours))
