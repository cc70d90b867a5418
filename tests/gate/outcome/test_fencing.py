"""`once` says True only while its lease lasts, however late Redis's answer comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hitl_core.errors import LeaseLost, Refused, StoreUnavailable
from hitl_core.gate import Gate
from hitl_core.gate.outcome.outcome import Outcome
from hitl_core.model import ToolCall
from hitl_core.review import claims
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from tests.gate.conftest import Open
from tests.support.builders import approve_all, call, person, policy
from tests.support.redis_servers.proxy import proxy_to
from tests.support.waiting import wait_until

CALL = call(id="c1", n=1)


async def approve(gate: Gate, asked: ToolCall = CALL) -> Outcome:
    review_id = await gate.submit([asked], thread_id="t")
    await approve_all(gate.reviews, review_id)
    return await gate.wait(review_id)


async def wait_started(gate: Gate, review_id: str) -> None:
    async def load_state() -> Any:
        return (await gate.reviews.load(review_id)).review.runs

    await wait_until("the call was started", load_state, 30)


async def wait_doubt(gate: Gate, review_id: str) -> None:
    async def load_state() -> Any:
        await gate.reviews.apply_due(review_id)
        return (await gate.reviews.load(review_id)).review.calls_in_doubt

    await wait_until("the lease has ended", load_state, 60)


async def answer_doubt(gate: Gate, review_id: str, answer: Any) -> None:
    await gate.reviews.change(
        review_id, "answer", lambda r, now: claims.resolve(r, "1", answer, person(), now)
    )


@pytest.mark.parametrize("answer", ["rerun", "skip", None])
async def test_a_process_paused_in_once_runs_nothing_when_it_goes_on(
    open_gate: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str | None
) -> None:
    """Fault A6: given an agent that stops right after `once` was stored, for longer than
    its lease; if a person then says Run again, or Skip, or nothing yet: the tool runs at most once, and not
    in the paused agent."""
    paused, heir = await open_gate(lease=5.0), await open_gate(lease=600)
    outcome = await approve(paused)
    outcome.release()  # a process that is stopped renews nothing
    go = tmp_path / "go"
    with monkeypatch.context() as armed:
        armed.setenv("HITL_FAILPOINTS", f"gate.after_once=pause:{go}")
        asking = asyncio.create_task(outcome.once(CALL))
        await wait_started(heir, outcome.review_id)
        await wait_doubt(heir, outcome.review_id)  # armed until it is certainly shown
    ran = []
    if answer is not None:
        await answer_doubt(heir, outcome.review_id, answer)
        again = await heir.wait(outcome.review_id)
        ran = [one.id for one in again.execute if await again.once(one)]
        assert all(again.fencing_token(one) > outcome.fencing_token(one) for one in again.execute)
    go.touch()

    with pytest.raises(LeaseLost):
        await asking
    assert ran == (["c1"] if answer == "rerun" else [])


@asynccontextmanager
async def shaky(
    url: str, outcome: Outcome, lease: float = 600, patience: float = 60
) -> AsyncIterator[tuple[Any, Outcome]]:
    """The same claim over a connection that can lose replies, in a process that renews nothing."""
    async with proxy_to(url) as proxy:
        store = await RedisStore.open(proxy.url)
        found = Outcome(outcome.review, Reviews(store, retry_seconds=patience), lease)
        found.release()
        yield proxy, found
        await store.close()


@pytest.mark.every_reply
async def test_an_answer_that_was_lost_is_checked_again(open_gate: Open, redis_url: str) -> None:
    """Given that the reply to `once` was lost, and that a person had the call run again
    before the next try; then the next try finds its own operation, and still returns False."""
    first, heir = await open_gate(lease=600), await open_gate(lease=600)
    outcome = await approve(first)
    outcome.release()
    async with shaky(redis_url, outcome) as (proxy, lost):
        proxy.drop_reply(2, hold=True)  # the load, then the write
        asking = asyncio.create_task(lost.once(CALL))
        await wait_until("the reply is lost", lambda: proxy.dropped, 30)
        await wait_started(heir, outcome.review_id)
        await heir.reviews.change(
            outcome.review_id, "die", lambda r, now: claims.expire_lease(r, now + 1000)
        )
        await answer_doubt(heir, outcome.review_id, "rerun")
        again = await heir.wait(outcome.review_id)
        assert await again.once(CALL)
        proxy.release()

        with pytest.raises(LeaseLost):
            await asking


@pytest.mark.every_reply
async def test_a_lost_answer_of_a_claim_that_still_holds_is_a_yes(
    open_gate: Open, redis_url: str
) -> None:
    """Given only the same lost reply, then it returns True, and nobody else gets
    True."""
    gate = await open_gate(lease=600)
    outcome = await approve(gate)
    outcome.release()
    async with shaky(redis_url, outcome) as (proxy, lost):
        proxy.drop_reply(2, hold=True)
        asking = asyncio.create_task(lost.once(CALL))
        await wait_until("the reply is lost", lambda: proxy.dropped, 30)
        await wait_started(gate, outcome.review_id)
        proxy.release()

        assert await asking is True
        assert await outcome.once(CALL) is False


@pytest.mark.every_reply
async def test_a_start_of_which_nobody_heard_is_asked_for_again(
    open_gate: Open, redis_url: str
) -> None:
    """Given a store that stored a start and then was away for longer than `once` has patience, so that it
    raised; when the agent asks again, then the call is its own and runs, once; it is not "started before"."""
    gate = await open_gate(lease=600)
    outcome = await approve(gate)
    outcome.release()
    async with shaky(redis_url, outcome, patience=0.2) as (proxy, lost):
        proxy.drop_reply(2, hold=True)
        asking = asyncio.create_task(lost.once(CALL))
        await wait_started(gate, outcome.review_id)
        with pytest.raises(StoreUnavailable):
            await asking
        proxy.release()

        answers = await asyncio.gather(*(lost.once(CALL) for _ in range(5)))
        assert sorted(answers) == [False] * 4 + [True]
        assert await outcome.once(CALL) is False


@pytest.mark.every_reply
async def test_two_starts_of_which_nobody_heard_are_one(open_gate: Open, redis_url: str) -> None:
    """Given two `once` of one call at the same time, and a store that stored the first and was away for both;
    when the agent asks again, then the call runs."""
    gate = await open_gate(lease=600)
    outcome = await approve(gate)
    outcome.release()
    async with shaky(redis_url, outcome, patience=0.2) as (proxy, lost):
        proxy.drop_reply(2, hold=True)
        asking = [asyncio.create_task(lost.once(CALL)) for _ in range(2)]
        await wait_started(gate, outcome.review_id)
        for each in asking:
            with pytest.raises(StoreUnavailable):
                await each
        proxy.release()

        assert await lost.once(CALL) is True
        assert await lost.once(CALL) is False


async def test_the_fencing_token_is_known_before_once(open_gate: Open) -> None:
    """It is a number of the claim; a call of another turn has none here."""
    outcome = await approve(await open_gate())
    assert outcome.fencing_token(CALL) == 1
    with pytest.raises(Refused, match="no call 'other'"):
        outcome.fencing_token(call(id="other"))


@asynccontextmanager
async def closing(store: RedisStore) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await store.close()


async def test_a_call_runs_again_after_its_last_review_was_deleted(redis_url: str) -> None:
    """Given a process that makes the same call of the same thread again after the retention, so that its new
    review has the id of the deleted one; then it runs, as it was approved: nothing was lost."""
    store = await RedisStore.open(redis_url, retention=0.2)

    async def is_deleted() -> bool:
        return await store.load(outcome.review_id) is None

    ids, may_run = set[str](), list[bool]()
    async with closing(store), Gate(store, policy=policy(), agent="crm") as gate:
        for _ in range(3):
            outcome = await approve(gate)
            may_run.append(await outcome.once(CALL))
            await outcome.finish({CALL.id: "ok"})
            ids.add(outcome.review_id)
            await wait_until("the retention is over", is_deleted, 30)
    assert (len(ids), may_run) == (1, [True] * 3)
