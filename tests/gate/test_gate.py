"""What the gate promises to an agent. People decide, and a real Redis stores it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from hitl_core.errors import (
    GateClosed,
    InvalidToolCall,
    LeaseLost,
    PolicyError,
    Refused,
    ReviewConflict,
    ReviewNotFound,
    StoreError,
)
from hitl_core.gate import Answer, Gate, Outcome
from hitl_core.model import ToolCall
from hitl_core.review import Decide, claims
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.gate.conftest import Open, listeners
from tests.support.builders import approve_all, call, person, policy, proposal
from tests.support.jobs import finish_all
from tests.support.redis_servers.proxy import proxy_to
from tests.support.waiting import wait_until

OwnRedis = Callable[[], EmbeddedRedis]


async def approve(gate: Gate, *calls: ToolCall, thread_id: str = "t-1", **more: Any) -> Outcome:
    """Submitted, approved by Ada, handed over."""
    review_id = await gate.submit(calls or [call(n=1)], thread_id=thread_id, **more)
    await approve_all(gate.reviews, review_id)
    return await gate.wait(review_id)


async def decide(gate: Gate, review_id: str, key: str, type: str, **more: Any) -> None:
    by = more.pop("by", person())
    await gate.reviews.apply(Decide(review_id, key, proposal(type, **more), by, f"op-{type}-{key}"))


async def status_of(gate: Gate, review_id: str) -> str:
    return (await gate.reviews.load(review_id)).review.status


async def first(outcomes: AsyncIterator[Outcome]) -> Outcome:
    return await anext(outcomes)


def ids(outcome: Outcome) -> list[str]:
    return [call.id for call in outcome.execute]


# ------------------------------------------------------------------------ promise 1


async def test_t1_promise_1_what_the_agent_changes_after_submitting_does_not_run(gate: Gate):
    """T1: given arguments that are changed while people decide, then the old ones run."""
    args: dict[str, Any] = {"amount": 10, "to": ["ada"]}
    review_id = await gate.submit([ToolCall("c1", "ask", args)], thread_id="t")
    args["amount"] = 10**6
    args["to"].append("eve")
    await approve_all(gate.reviews, review_id)

    outcome = await gate.wait(review_id)

    [ready] = outcome.execute
    assert ready.args == {"amount": 10, "to": ["ada"]}
    assert await outcome.once(ready)


async def test_promise_1_what_is_judged_is_what_is_stored(open_gate: Open):
    """Given arguments that change between the policy's check and the store, then both use the first ones."""
    rules = policy(pay={"when": {"properties": {"amount": {"minimum": 100}}}}, **{"pa?": False})
    gate = await open_gate(policy=rules)
    args = {"amount": 1}
    submitting = asyncio.create_task(gate.submit([ToolCall("c1", "pay", args)], thread_id="t"))
    await asyncio.sleep(0)  # it is on its way to the store
    args["amount"] = 10**6

    review = (await gate.reviews.load(await submitting)).review

    assert (review.status, review.arguments("1").parse()) == ("settled", {"amount": 1})


async def test_t2_promise_1_other_arguments_are_refused_before_they_run(gate: Gate):
    """T2: `once` compares the bytes, whatever code is between the outcome and the tool."""
    outcome = await approve(gate, call(n=1), call("look_up", "c2", n=1))
    [asked, _] = outcome.execute
    changed = [
        ToolCall("c1", "ask", {"n": 2}),
        ToolCall("c1", "ask", {"n": 1.0}),
        ToolCall("c1", "ask", {"n": 1, "more": None}),
        ToolCall("c1", "ask", {}),
        ToolCall("c1", "strict", {"n": 1}),
        ToolCall("c2", "look_up", {"n": 2}),
    ]
    for other in changed:
        with pytest.raises(Refused, match="is not the one that was decided") as caught:
            await outcome.once(other)
        assert caught.value.code == "args_changed"
    asked.args["n"] = 2
    with pytest.raises(Refused, match="is not the one that was decided"):
        await outcome.once(asked)
    assert await outcome.once(call(n=1))


async def test_t6_a_target_among_the_arguments_is_the_one_that_was_approved(gate: Gate):
    """T6: a host or an account that is one of the arguments can't be another one after the approval. One that
    the tool takes from elsewhere is not protected."""
    args = {"host": "staging-1", "account": "test", "command": "rm -r /data"}
    outcome = await approve(gate, call(**args))
    for other in ({"host": "prod-1"}, {"account": "live"}, {"host": "staging-1 "}):
        with pytest.raises(Refused) as caught:
            await outcome.once(call(**{**args, **other}))
        assert caught.value.code == "args_changed"
    assert await outcome.once(call(**args))


async def test_promise_1_an_edit_runs_as_it_was_edited(gate: Gate):
    """The edited arguments, under the model's own id; the model's own arguments are refused then."""
    review_id = await gate.submit([call(n=1)], thread_id="t")
    await decide(gate, review_id, "1", "edit", n=2)
    outcome = await gate.wait(review_id)
    assert outcome.execute == (ToolCall("c1", "ask", {"n": 2}),)
    with pytest.raises(Refused, match="not the one that was decided"):
        await outcome.once(call(n=1))
    assert await outcome.once(outcome.execute[0])
    decision = outcome.decision("c1")
    assert decision is not None
    assert (decision.type, decision.by) == ("edit", person())


async def test_promise_1_what_was_not_approved_never_starts(gate: Gate):
    """Rejected, denied, or of another turn: once refuses."""
    review_id = await gate.submit([call("ask", "c1"), call("drop_table", "c2")], thread_id="t")
    await decide(gate, review_id, "1", "reject")
    outcome = await gate.wait(review_id)
    for never in (call("ask", "c1"), call("drop_table", "c2"), call("ask", "c9")):
        with pytest.raises(Refused, match="must not run") as caught:
            await outcome.once(never)
        assert caught.value.code == "not_allowed"


async def test_promise_1_a_policy_loosened_meanwhile_changes_nothing(open_gate: Open):
    """T46: the rules at the submit count, for the waiting process and for the one that takes over."""
    strict = await open_gate(policy=policy())
    review_id = await strict.submit([call(n=1)], thread_id="t", turn="m1")
    loose = await open_gate(policy=policy(ask=False))

    assert await loose.submit([call(n=1)], thread_id="t", turn="m1") == review_id
    waiting = asyncio.create_task(loose.wait(review_id))
    assert await status_of(strict, review_id) == "pending"
    await decide(strict, review_id, "1", "reject")

    assert (await waiting).execute == ()


# ------------------------------------------------------------------------ which turn it is


async def test_promise_4_submitting_again_finds_the_same_review(open_gate: Open):
    """After a crash, in another process: one review, one event for the bots."""
    one, two = await open_gate(), await open_gate()
    first_id = await one.submit([call(n=1)], thread_id="t")
    assert await two.submit([call(n=1)], thread_id="t") == first_id
    await approve_all(one.reviews, first_id)
    assert await two.submit([call(n=1)], thread_id="t") == first_id
    outcome = await one.wait(first_id)
    assert await two.submit([call(n=1)], thread_id="t") == first_id
    await outcome.finish()
    [job] = await finish_all(one.reviews.store)
    assert job.note == "3"  # submitted, decided, done


async def test_promise_4_many_copies_submit_one_review(open_gate: Open):
    """Fault A7: given twenty submits at the same moment by three processes, then there is one review."""
    gates = [await open_gate() for _ in range(3)]
    found = await asyncio.gather(
        *(gate.submit([call(n=1)], thread_id="t") for gate in gates for _ in range(7))
    )
    assert len(set(found)) == 1


async def test_the_same_ids_with_other_arguments_are_a_conflict(gate: Gate):
    """With a turn's name and without."""
    for turn in ("m1", None):
        await gate.submit([call(n=1)], thread_id="t", turn=turn)
        with pytest.raises(ReviewConflict, match="with other arguments"):
            await gate.submit([call(n=2)], thread_id="t", turn=turn)
        with pytest.raises(ReviewConflict, match="with other arguments"):
            await gate.submit([call("strict", n=1)], thread_id="t", turn=turn)


async def test_call_ids_are_used_again_in_the_next_turn(gate: Gate):
    """Without a turn's name the next review starts when the last of these ids is done."""
    seen: list[str] = []
    for n in range(12):
        outcome = await approve(gate, call(n=n))
        assert outcome.execute[0].args == {"n": n}
        assert await outcome.once(outcome.execute[0])
        await outcome.finish({"c1": f"result {n}"})
        seen.append(outcome.review_id)
    assert len(set(seen)) == 12


async def test_call_ids_are_used_again_in_a_named_turn(gate: Gate):
    """The name alone makes another review, at the same time as well; a done one stays done."""
    one = await gate.submit([call(n=1)], thread_id="t", turn="m1")
    two = await gate.submit([call(n=2)], thread_id="t", turn="m2")
    assert one != two
    await approve_all(gate.reviews, one)
    await (await gate.wait(one)).finish()
    assert await gate.submit([call(n=1)], thread_id="t", turn="m1") == one
    assert await status_of(gate, two) == "pending"


async def test_a_turn_is_found_again_when_the_first_ones_are_no_longer_kept(
    open_gate: Open, redis_url: str
):
    """Given a thread older than the retention, when a pending turn is submitted again, then it is that
    turn, and not a second review of it.
    """
    gate = await open_gate()
    early = [await approve(gate, call(n=n)) for n in range(1)]
    for n in range(1, 4):
        await early[-1].finish()
        early.append(await approve(gate, call(n=n)))
    await early[-1].finish()
    pending = await gate.submit([call(n=9)], thread_id="t-1")
    with redis.Redis.from_url(redis_url) as client:
        for outcome in early[:2]:
            client.delete(f"hitl:{{0}}:review:{outcome.review_id}")

    assert await gate.submit([call(n=9)], thread_id="t-1") == pending
    await gate.submit([call(n=9)], thread_id="t-1", turn="other")
    assert await gate.submit([call(n=9)], thread_id="t-1") == pending


@pytest.mark.parametrize(
    "other",
    [{"agent": "support"}, {"thread_id": "t-2"}, {"turn": "m2"}, {"calls": [call(id="c2", n=1)]}],
    ids=lambda value: next(iter(value)),
)
async def test_another_agent_thread_turn_or_id_is_another_review(
    open_gate: Open, other: dict[str, Any]
):
    """I2, T3: a decision for one never counts for another."""
    here = {"thread_id": "t-1", "turn": "m1", "calls": [call(n=1)]}
    gate = await open_gate()
    first_id = await gate.submit(**here)
    there = {**here, **other}
    elsewhere = await open_gate(agent=there.pop("agent", "billing"))
    second_id = await elsewhere.submit(**there)
    assert first_id != second_id
    await approve_all(gate.reviews, first_id)
    assert await status_of(gate, second_id) == "pending"


async def test_two_reviews_in_one_thread_are_apart(gate: Gate):
    """Each is decided, taken and finished on its own."""
    one = await gate.submit([call(n=1)], thread_id="t", turn="m1")
    two = await gate.submit([call(n=2)], thread_id="t", turn="m2")
    await approve_all(gate.reviews, two)
    outcome = await gate.wait(two)
    assert outcome.execute[0].args == {"n": 2}
    assert await status_of(gate, one) == "pending"
    await outcome.finish()
    assert await gate.reviews.store.thread_ids("t") == [one, two]


# ------------------------------------------------------------------------ outcomes


async def test_a_turn_that_nobody_has_to_see_goes_on_at_once(gate: Gate):
    """All allowed: everything to execute, in the model's order. All denied: nothing, back to the model."""
    allowed = await gate.review([call("look_up", "c2"), call("look_at", "c1")], thread_id="t")
    assert (ids(allowed), allowed.answers, allowed.jump_to_model) == (["c2", "c1"], (), False)
    assert allowed.decision("c1") is None

    denied = await gate.review([call("drop_table", "c3")], thread_id="t")
    assert denied.execute == ()
    assert denied.jump_to_model
    assert denied.answers == (
        Answer(
            "c3",
            "drop_table",
            "The policy doesn't allow `drop_table`: The rule `drop_table` denies it. The tool was not"
            " executed. Do not retry this tool call.",
            "error",
        ),
    )


async def test_every_call_is_executed_or_answered_in_the_models_order(open_gate: Open):
    """One review with everything in it; the texts are what models know from LangChain."""
    gate = await open_gate(policy=policy(quick={"expire": {"after": "1s", "decision": "reject"}}))
    names = ["ask", "look_up", "ask", "drop_table", "ask", "ask", "ask", "ask", "quick"]
    calls = [call(name, f"c{n}", n=n) for n, name in enumerate(names, start=1)]
    review_id = await gate.submit(calls, thread_id="t")
    await decide(gate, review_id, "1", "reject", message="too expensive")
    await decide(gate, review_id, "3", "approve")
    await decide(gate, review_id, "5", "reject")
    await decide(gate, review_id, "6", "respond", message="It is 42.")
    await decide(gate, review_id, "7", "ignore")
    await decide(gate, review_id, "8", "edit", n=80)

    async def expire() -> bool:
        return bool(await gate.reviews.apply_due(review_id))

    await wait_until("the deadline has passed", expire)
    outcome = await gate.wait(review_id)

    assert outcome.execute == (
        call("look_up", "c2", n=2),
        call("ask", "c3", n=3),
        call("ask", "c8", n=80),
    )
    stop = "The tool was not executed. Do not retry this tool call unless the user explicitly requests it."
    assert outcome.answers == (
        Answer(
            "c1", "ask", "User rejected the tool call for `ask` with reason: too expensive", "error"
        ),
        Answer(
            "c4",
            "drop_table",
            "The policy doesn't allow `drop_table`: The rule `drop_table` denies it."
            " The tool was not executed. Do not retry this tool call.",
            "error",
        ),
        Answer("c5", "ask", f"User rejected the tool call for `ask` with id c5. {stop}", "error"),
        Answer("c6", "ask", "It is 42.", "success"),
        Answer("c7", "ask", "The tool call `ask` was skipped. The tool was not executed.", "error"),
        Answer(
            "c9", "quick", f"Nobody decided on the tool call for `quick` in time. {stop}", "error"
        ),
    )
    assert not outcome.jump_to_model


async def test_nothing_left_to_execute_jumps_to_the_model(gate: Gate):
    review_id = await gate.submit([call()], thread_id="t")
    await decide(gate, review_id, "1", "reject")
    assert (await gate.wait(review_id)).jump_to_model


async def test_of_a_done_review_nothing_is_left_and_every_call_is_answered(gate: Gate):
    """Given a run that ended, when somebody waits for it again, then no call is left without an answer."""
    calls = [call(id=f"c{n}", n=n) for n in (1, 2)] + [call("look_up", "c3")]
    outcome = await approve(gate, *calls)
    assert await outcome.once(outcome.execute[0])
    await outcome.finish({"c1": "sent\nto all"})

    again = await gate.wait(outcome.review_id)

    assert again.execute == ()
    assert again.answers == (
        Answer("c1", "ask", "`ask` ran: sent", "success"),
        Answer("c2", "ask", "`ask` was not executed.", "error"),
        Answer("c3", "look_up", "`look_up` was not executed.", "error"),
    )
    with pytest.raises(Refused, match="must not run"):
        await again.once(calls[0])
    await again.finish()


async def test_results_of_calls_that_must_not_run_are_not_kept(gate: Gate):
    """If an agent reports results for all calls, a rejected call still doesn't look as if it ran."""
    review_id = await gate.submit([call(id="c1"), call(id="c2")], thread_id="t")
    await decide(gate, review_id, "1", "reject")
    await decide(gate, review_id, "2", "approve")
    outcome = await gate.wait(review_id)
    await outcome.report({"c1": "rejected"})
    await outcome.finish({"c1": "rejected", "c2": "sent"})
    runs = (await gate.reviews.load(review_id)).review.runs
    assert {key: run.line for key, run in runs.items()} == {"2": "sent"}


async def test_a_result_that_is_no_clean_text_is_kept_all_the_same(gate: Gate):
    """A file's name with half a surrogate pair, an object, a page: done never fails on it."""
    calls = [call(id=f"c{n}") for n in range(3)]
    outcome = await approve(gate, *calls)
    await outcome.finish({"c0": "a\udcff", "c1": {"n": 1}, "c2": "line\n" * 10_000})
    runs = (await gate.reviews.load(outcome.review_id)).review.runs
    assert [runs[key].line for key in "123"] == ["a?", "{'n': 1}", "line"]


# ------------------------------------------------------------------------ promise 5


async def test_promise_5_once_is_true_exactly_once(open_gate: Open):
    """T4: 50 calls at the same moment, on the claimed outcome and through other processes."""
    gates = [await open_gate() for _ in range(3)]
    outcome = await approve(gates[0], call(n=1))
    [ready] = outcome.execute
    others = [Outcome(outcome.review, gate.reviews, 30) for gate in gates[1:]]

    text = await asyncio.gather(*(o.once(ready) for o in [outcome, *others] for _ in range(17)))

    assert text.count(True) == 1
    assert await outcome.once(ready) is False
    for other in others:
        other.release()


async def test_promise_5_a_long_turn_may_start_all_at_once(gate: Gate):
    """A hundred calls that start together all start."""
    outcome = await approve(gate, *(call("look_up", f"c{n}", n=n) for n in range(100)))
    message = await asyncio.gather(*(outcome.once(ready) for ready in outcome.execute))
    assert message == [True] * 100
    await outcome.finish({ready.id: "ok" for ready in outcome.execute})


async def test_promise_5_two_waiters_one_claim(open_gate: Open):
    """Fault A7: given two processes that wait for one review, then one gets it, and the other its end."""
    one, two = await open_gate(), await open_gate()
    review_id = await one.submit([call(n=1)], thread_id="t")
    waiting = {asyncio.create_task(gate.wait(review_id)) for gate in (one, two, one, two)}
    await asyncio.sleep(0)
    await approve_all(one.reviews, review_id)

    done, rest = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    [winner] = [task.result() for task in done]
    assert ids(winner) == ["c1"]
    await winner.finish({"c1": "ok"})
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    assert (await two.wait(review_id)).execute == ()


async def test_newcomer_9_a_second_waiter_gets_the_end_at_once(
    open_gate: Open, monkeypatch: pytest.MonkeyPatch
):
    """Given two processes that wait for one review and look only after a hint; when one has run it, then the
    other's wait ends."""
    monkeypatch.setattr("hitl_core.gate.waiting.waiter.POLL_INTERVAL", 86_400.0)
    gates = [await open_gate(), await open_gate()]
    review_id = await gates[0].submit([call()], thread_id="t")
    waits = [asyncio.create_task(gate.wait(review_id)) for gate in gates]

    await decide(gates[0], review_id, "1", "approve")
    done, others = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    (first,) = done
    await (await first).finish()

    (second,) = others
    assert (await second).execute == ()


async def test_promise_5_a_dead_agents_review_is_taken_over(open_gate: Open):
    """Given a process that claimed and died before any once, then another runs it all."""
    dead, heir = await open_gate(lease=0.3), await open_gate(lease=5)
    outcome = await approve(dead, call(id="c1"), call(id="c2"))
    outcome.release()

    again = await asyncio.wait_for(heir.wait(outcome.review_id), 10)

    assert ids(again) == ["c1", "c2"]
    assert again.review.fence == 2
    assert await again.once(again.execute[0])


async def test_promise_5_a_zombie_changes_nothing(open_gate: Open):
    """Fault A6: stopped for longer than its lease, it finds that it lost the review."""
    zombie, heir = await open_gate(lease=0.3), await open_gate(lease=30)
    outcome = await approve(zombie, call(id="c1"), call(id="c2"))
    outcome.release()
    again = await asyncio.wait_for(heir.wait(outcome.review_id), 10)

    with pytest.raises(LeaseLost):
        await outcome.finish({"c1": "sent"})
    with pytest.raises(LeaseLost):
        await outcome.report({"c1": "sent"})
    with pytest.raises(LeaseLost):
        await outcome.once(outcome.execute[0])
    review = (await heir.reviews.load(outcome.review_id)).review
    assert (review.runs, review.status) == ({}, "claimed")
    await again.finish({"c1": "ok"})


@pytest.mark.parametrize(
    ("answer", "runs", "texts"),
    [
        ("ran", [], "`ask` ran; its result was lost. “Bo” (U_BO) confirmed it."),
        ("rerun", ["c1"], None),
        ("skip", [], "`ask` was skipped: whether it ran before is not known."),
    ],
)
async def test_promise_5_a_doubtful_call_is_asked_about(
    open_gate: Open, answer: Any, runs: list[str], texts: str | None
):
    """Faults A4 and A5: given a death between once and done, then nobody gets the review until a person
    answers."""
    dead, heir = await open_gate(lease=0.3), await open_gate(lease=5)
    outcome = await approve(dead, call(id="c1"), call("look_up", "c2"))
    assert await outcome.once(outcome.execute[0])
    outcome.release()
    waiting = asyncio.create_task(heir.wait(outcome.review_id))
    review_id = outcome.review_id

    async def load_doubts() -> Any:
        return (await heir.reviews.load(review_id)).review.calls_in_doubt

    [doubt] = await wait_until("the call is in doubt", load_doubts)
    assert (doubt.tool_call_id, waiting.done()) == ("c1", False)
    assert await heir.reviews.store.ready_reviews("billing") == []
    await heir.reviews.change(
        review_id, "r", lambda r, now: claims.resolve(r, "1", answer, person("Bo"), now)
    )

    again = await asyncio.wait_for(waiting, 10)
    assert ids(again) == [*runs, "c2"]
    assert again.idempotency_key(call(id="c1")) == outcome.idempotency_key(call(id="c1"))
    assert [a.content for a in again.answers] == ([texts] if texts else [])
    for ready in again.execute:
        assert await again.once(ready)


async def test_promise_5_an_idempotent_call_runs_again_with_the_same_key(open_gate: Open):
    """Nobody is asked; by the key the service behind the tool recognizes the same call."""
    dead, heir = await open_gate(lease=0.3), await open_gate(lease=5)
    outcome = await approve(dead, call("rerunnable", n=1))
    [ready] = outcome.execute
    assert await outcome.once(ready)
    outcome.release()

    again = await asyncio.wait_for(heir.wait(outcome.review_id), 10)

    assert again.execute == (ready,)
    assert again.idempotency_key(ready) == outcome.idempotency_key(ready)
    assert await again.once(ready)
    assert not await again.once(ready)


async def test_the_lease_is_renewed_while_the_outcome_lives_and_no_longer(open_gate: Open):
    """Given an outcome that is held, then it keeps its lease; given a dropped one, its lease ends."""
    gate = await open_gate(lease=0.6)
    outcome: Outcome | None = await approve(gate, call(n=1))
    assert outcome is not None
    review_id = outcome.review_id

    async def is_renewed() -> bool:
        return (await gate.reviews.load(review_id)).review.version > 4

    await wait_until("it was renewed twice", is_renewed)
    assert await gate.reviews.store.ready_reviews("billing") == []
    outcome = None
    gc.collect()

    async def free() -> bool:
        return await gate.reviews.store.ready_reviews("billing") == [review_id]

    await wait_until("its lease ended", free)


async def test_done_ends_the_renewal(open_gate: Open):
    """Nothing is written after the end."""
    gate = await open_gate(lease=0.15)
    outcome = await approve(gate, call(n=1))
    assert await outcome.once(outcome.execute[0])
    await outcome.finish({"c1": "ok"})
    version = (await gate.reviews.load(outcome.review_id)).review.version
    other = await approve(gate, call("ask", "c2"))

    async def is_renewed() -> bool:
        return (await gate.reviews.load(other.review_id)).review.version > 4

    await wait_until("another was renewed meanwhile", is_renewed)
    assert (await gate.reviews.load(outcome.review_id)).review.version == version


# ------------------------------------------------------------------------ settled


async def test_settled_yields_reviews_that_nobody_waits_for(open_gate: Open):
    """Submitted by a process that has gone, decided now or before: both come, one after the other."""
    gone, worker = await open_gate(), await open_gate()
    before = await gone.submit([call("look_up", n=1)], thread_id="t", turn="m1")
    outcomes = worker.outcomes()
    one = await asyncio.wait_for(first(outcomes), 10)
    later = await gone.submit([call(n=1)], thread_id="t", turn="m2")
    waiting = asyncio.create_task(first(outcomes))
    await approve_all(gone.reviews, later)
    two = await asyncio.wait_for(waiting, 10)
    assert (one.review_id, two.review_id) == (before, later)
    assert two.turn == "m2"
    await outcomes.aclose()


async def test_settled_skips_reviews_that_a_living_process_waits_for(open_gate: Open):
    """Promise 5: after the waiter's last beat has ended, the worker gets it."""
    dead = await open_gate(heartbeat_ttl=30.0)
    worker = await open_gate(heartbeat_ttl=0.3)
    review_id = await dead.submit([call(n=1)], thread_id="t")
    # As a process dies: nobody waits there any more, but its last beat is still good.
    await worker.reviews.change(
        review_id, "await", lambda r, now: claims.set_waiting_process(r, dead.process, now)
    )
    await approve_all(worker.reviews, review_id)
    outcomes = worker.outcomes()
    serving = asyncio.create_task(first(outcomes))
    other = await worker.submit([call("look_up", "c2")], thread_id="t-2")
    assert (await asyncio.wait_for(asyncio.shield(serving), 10)).review_id == other
    assert await status_of(worker, review_id) == "settled"

    await worker.reviews.store.send_heartbeat(dead.process, 0.01)  # its last

    assert (await asyncio.wait_for(first(outcomes), 10)).review_id == review_id
    await outcomes.aclose()


async def test_promise_5_a_cancelled_wait_leaves_the_review_to_others(open_gate: Open):
    """Given a wait that was cancelled in a process that lives on, then a worker gets the review."""
    impatient, worker = await open_gate(heartbeat_ttl=30.0), await open_gate(heartbeat_ttl=0.3)
    review_id = await impatient.submit([call(n=1)], thread_id="t")
    waiting = asyncio.create_task(impatient.wait(review_id))

    async def waiter() -> str | None:
        return (await worker.reviews.load(review_id)).review.waiting_process

    async def is_waited_for() -> bool:
        return await waiter() == impatient.process

    await wait_until("it waits", is_waited_for)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    await approve_all(worker.reviews, review_id)
    outcomes = worker.outcomes()
    assert (await asyncio.wait_for(first(outcomes), 10)).review_id == review_id
    await outcomes.aclose()


async def test_review_and_settled_in_one_process_do_not_take_from_each_other(open_gate: Open):
    """Given a process that serves and asks, then the outcome goes to the code that asked."""
    gate = await open_gate()
    served: list[str] = []

    async def serve() -> None:
        async for outcome in gate.outcomes():
            served.append(outcome.review_id)

    serving = asyncio.create_task(serve())
    await asyncio.sleep(0)
    names = ["look_up", "ask"] * 30
    asking = [
        asyncio.create_task(gate.review([call(name, n=1)], thread_id=f"t-{n}"))
        for n, name in enumerate(names)
    ]
    people = await open_gate(agent="people")
    for n in range(1, 60, 2):

        async def list_reviews(thread_id: str = f"t-{n}") -> list[str]:
            return await people.reviews.store.thread_ids(thread_id)

        [review_id] = await wait_until("it is submitted", list_reviews)
        await approve_all(people.reviews, review_id)
    asked = await asyncio.wait_for(asyncio.gather(*asking), 20)
    assert len({outcome.review_id for outcome in asked}) == 60
    assert all(ids(outcome) == ["c1"] for outcome in asked)
    assert served == []
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def test_settled_skips_reviews_that_its_own_process_waits_for(open_gate: Open):
    """Given a review that is ready and watched, then it comes only when nobody watches it any more."""
    gate = await open_gate(heartbeat_ttl=0.3)
    watched = await gate.submit([call("look_up", n=1)], thread_id="t-1")
    other = await gate.submit([call("look_up", n=1)], thread_id="t-2")
    outcomes = gate.outcomes()
    with gate._listener.watch(watched):
        assert (await asyncio.wait_for(first(outcomes), 10)).review_id == other
    assert (await asyncio.wait_for(first(outcomes), 10)).review_id == watched
    await outcomes.aclose()


async def test_settled_goes_on_past_a_review_that_cannot_be_read(open_gate: Open, redis_url: str):
    """A review of a newer version doesn't block the others."""
    gate = await open_gate()
    broken = await gate.submit([call("look_up", "c1")], thread_id="t-1")
    good = await gate.submit([call("look_up", "c2")], thread_id="t-2")
    with redis.Redis.from_url(redis_url) as client:
        client.hset(f"hitl:{{0}}:review:{broken}", "data", '{"schema_version": 2}')
    outcomes = gate.outcomes()
    assert (await asyncio.wait_for(first(outcomes), 10)).review_id == good
    await outcomes.aclose()


async def test_settled_serves_its_own_agent_only(open_gate: Open):
    billing, support = await open_gate(), await open_gate(agent="support")
    await billing.submit([call("look_up", "c1")], thread_id="t")
    mine = await support.submit([call("look_up", "c1")], thread_id="t")
    outcomes = support.outcomes()
    assert (await asyncio.wait_for(first(outcomes), 10)).review_id == mine
    await outcomes.aclose()


# ------------------------------------------------------------------------ waiting


async def test_a_cancelled_wait_leaves_the_review_as_it_is(gate: Gate):
    """Fault A8: given a framework's timeout, then the review waits on, and can be waited for again."""
    review_id = await gate.submit([call(n=1)], thread_id="t")
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await gate.wait(review_id)
    assert await status_of(gate, review_id) == "pending"
    waiting = asyncio.create_task(gate.wait(review_id))
    await approve_all(gate.reviews, review_id)
    assert ids(await asyncio.wait_for(waiting, 10)) == ["c1"]


async def test_five_hundred_wait_over_a_handful_of_connections(open_gate: Open, redis_url: str):
    """A wait doesn't hold a connection. When all are decided, each gets its own outcome."""
    gate, people = await open_gate(), await open_gate()
    review_ids = [await gate.submit([call(n=n)], thread_id=f"t-{n}", turn="m") for n in range(500)]
    waiting = [asyncio.create_task(gate.wait(id)) for id in review_ids]
    with redis.Redis.from_url(redis_url) as client:

        async def all_wait() -> bool:
            last = [await people.reviews.load(id) for id in review_ids[-40:]]
            return all(s.review.waiting_process == gate.process for s in last)

        await wait_until("all wait", all_wait, 30)
        assert len(client.client_list()) < 80
        blocked: Any = client.info("clients")
        assert blocked["blocked_clients"] == 2  # one a process
    for start in range(0, 500, 50):
        await asyncio.gather(
            *(approve_all(people.reviews, id) for id in review_ids[start : start + 50])
        )
    outcomes = await asyncio.wait_for(asyncio.gather(*waiting), 60)
    assert [o.execute[0].args["n"] for o in outcomes] == list(range(500))
    for outcome in outcomes:
        outcome.release()


@pytest.mark.slow
async def test_promise_11_a_waiter_survives_the_death_of_redis(
    own_redis: OwnRedis, open_gate: Open
):
    """Fault R1: killed while it waits, and again just after the decision: nothing is lost."""
    server = own_redis()
    gate, people = await open_gate(server.url), await open_gate(server.url)
    review_id = await gate.submit([call(n=1)], thread_id="t")
    gate.reviews = Reviews(gate.reviews.store, retry_seconds=0.05)  # the outage is longer than that
    server.kill()
    waiting = asyncio.create_task(gate.wait(review_id))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(waiting), 0.5)
    server.start()
    await approve_all(people.reviews, review_id)
    server.kill()
    server.start()

    outcome = await asyncio.wait_for(waiting, 30)
    assert await outcome.once(outcome.execute[0])
    await outcome.finish({"c1": "ok"})
    assert await status_of(people, review_id) == "done"


async def test_a_wait_ends_when_its_gate_closes(open_gate: Open, redis_url: str):
    """Nothing waits without end on a closed gate, or on one that was never opened."""
    async with Gate.connect(redis_url, policy=policy(), agent="a") as gate:
        review_id = await gate.submit([call(n=1)], thread_id="t")
        waiting = asyncio.create_task(gate.wait(review_id))
        serving = asyncio.create_task(first(gate.outcomes()))
        await wait_until("it waits", lambda: gate._listener.is_watched(review_id))
        await wait_until("it listens", lambda: listeners(redis_url) == 1)
    for task in (waiting, serving):
        with pytest.raises(GateClosed):
            await asyncio.wait_for(task, 30)
    with pytest.raises(GateClosed, match="async with"):
        await Gate(MemoryStore(), policy=policy(), agent="a").wait(review_id)


async def test_work_during_the_close_of_a_gate_leaves_no_connection(redis_url: str):
    """Given an outcome that is renewed all the time, and waits in the middle of a command; then these get
    GateClosed, and the gate closes everything that it opened.
    """
    async with proxy_to(redis_url) as proxy:
        rules = policy()
        async with Gate.connect(proxy.url, policy=rules, agent="billing", lease=0.03) as gate:
            outcome = await approve(gate)
            open_id = await gate.submit([call(n=2)], thread_id="t-2")
            waiting = [asyncio.create_task(gate.wait(open_id)) for _ in range(5)]
            serving = asyncio.create_task(first(gate.outcomes()))
            await asyncio.sleep(0)
        for task in (*waiting, serving):
            with pytest.raises(GateClosed):
                await asyncio.wait_for(task, 30)
        with pytest.raises(StoreError, match="The store is closed"):
            await outcome.finish()
        await wait_until("no connection is left", lambda: not proxy.open)


async def test_what_nobody_submitted_is_not_found(gate: Gate):
    for unknown in ("0-" + "a" * 32, "nonsense", ""):
        with pytest.raises(ReviewNotFound):
            await gate.wait(unknown)


# ------------------------------------------------------------------------ promise 10


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


def test_newcomer_9_a_policy_may_be_given_as_the_path_of_its_file(tmp_path: Path):
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


async def test_newcomer_9_an_id_that_is_no_call_of_this_review_is_refused(gate: Gate):
    """Newcomer 9: `done({"wrong-id": …})` says so, whether `once` was asked or not; nothing is kept."""
    outcome = await approve(gate, call(id="c1"))
    for wrong in (outcome.finish({"wrong-id": "sent"}), outcome.report({"wrong-id": "sent"})):
        with pytest.raises(Refused, match="no call 'wrong-id'; it has 'c1'") as refused:
            await wrong
        assert refused.value.code == "unknown_call"
    assert (await gate.reviews.load(outcome.review_id)).review.status == "claimed"
    await outcome.finish({"c1": "sent"})


async def test_newcomer_9_a_closed_gate_says_that_it_is_closed(redis_url: str):
    """Newcomer 9: not that its store is closed."""
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
