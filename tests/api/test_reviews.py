"""Submitting turns, and reading the result of each call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis

from bot.api import agent_api
from bot.api.policies import Policies
from hitl_core import Gate, Policy, ToolCall
from hitl_core.model import Arguments, encode
from hitl_core.review import Decide, claims
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from hitl_core.store.redis.keys import Keys
from tests.api.client import Client, tool_call
from tests.api.conftest import Open
from tests.support.builders import approve_all, person, policy, proposal
from tests.support.waiting import wait_until


async def test_people_are_asked_where_the_requester_asked(open_api: Open, reviews: Reviews):
    """Given a policy that says `origin`, and a turn with the thread in which the agent was asked; then its
    review goes there. Where the requester may not approve, it has to be said who that is."""
    rules = {"default": "review", "notify": "origin"}
    client = await open_api(policies=Policies(Policy.from_mapping(rules)))
    where = "slack:C0123ABCD/1700000000.000100"
    id = (await client.submit(tool_call(), origin=where)).body["id"]
    review = (await reviews.load(id)).review
    assert (review.origin, review.places) == (where, (where,))

    pairs = {"default": "review", "reviewers": {"users": ["U1", "U2"], "exclude_requester": True}}
    client = await open_api(policies=Policies(Policy.from_mapping(pairs)))
    reply = await client.submit(tool_call(), turn="m1")
    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith("/requester: ")


async def test_a_submitted_turn_waits_for_people(client: Client):
    """Given a turn of one call that people are asked about; then it is pending, with no outcome, and
    nothing of its arguments or its policy is told before they decided."""
    reply = await client.submit(tool_call(n=1), requester="U1")

    assert reply.status == 201
    review = reply.body
    assert reply.headers["Location"] == f"/v1/reviews/{review['id']}"
    assert review == await client.read(review["id"])
    assert {k: review[k] for k in ("thread_id", "turn", "requester", "status", "outcome")} == {
        "thread_id": "t-1",
        "turn": "#1",
        "requester": "U1",
        "status": "pending",
        "outcome": None,
    }
    assert [a["tool_call_id"] for a in review["actions"]] == ["c1"]
    assert review["actions"][0]["decision"] is None


async def test_an_outcome_says_what_to_run_and_what_to_tell_the_model(
    client: Client, reviews: Reviews
):
    """Given an allowed, a denied, and three decided calls; then the outcome has them in the model's
    order, with edits applied."""
    names = {"c1": "look_up", "c2": "drop_table", "c3": "ask", "c4": "ask", "c5": "ask"}
    calls = [tool_call(id, name, n=1) for id, name in names.items()]
    id = (await client.submit(*calls)).body["id"]
    await reviews.apply(Decide(id, "3", proposal("approve"), person(), "op3"))
    await reviews.apply(Decide(id, "4", proposal("edit", n=2), person(), "op4"))
    await reviews.apply(Decide(id, "5", proposal("reject", message="no"), person(), "op5"))

    review = await client.read(id)

    assert review["status"] == "settled"
    outcome = review["outcome"]
    assert [(c["id"], c["args"]) for c in outcome["execute"]] == [
        ("c1", {"n": 1}),
        ("c3", {"n": 1}),
        ("c4", {"n": 2}),
    ]
    assert [(a["tool_call_id"], a["status"]) for a in outcome["answers"]] == [
        ("c2", "error"),
        ("c5", "error"),
    ]
    assert "no" in outcome["answers"][1]["content"]
    assert outcome["jump_to_model"] is False
    decision = review["actions"][2]["decision"]
    assert (decision["type"], decision["by"]["name"], decision["message"]) == (
        "reject",
        "Ada",
        "no",
    )


async def test_a_turn_that_needs_nobody_is_settled_at_once(client: Client):
    reply = await client.submit(tool_call(name="look_up"), tool_call("c2", "drop_table"))

    assert reply.body["status"] == "settled"
    assert [call["id"] for call in reply.body["outcome"]["execute"]] == ["c1"]


NUMBERS = '{"d":-0.0,"a":1,"b":1.0,"e":12345678901234567890123,"f":1E2,"g":"\\u00e9\\u2028"}'


async def test_promise_1_the_bytes_that_run_are_those_that_were_meant(
    client: Client, reviews: Reviews
):
    """Given numbers that a careless parser would change; then they are stored, and come back, as they
    were."""
    body = f'{{"thread_id":"t-1","calls":[{{"id":"c1","name":"ask","args":{NUMBERS}}}]}}'

    reply = await client.send("POST", "/v1/reviews", body.encode(), Content_Type="application/json")

    id = reply.body["id"]
    stored = (await reviews.load(id)).review.arguments("1")
    assert stored == Arguments(
        '{"a":1,"b":1.0,"d":-0.0,"e":12345678901234567890123,"f":100.0,"g":"é\u2028"}'.encode()
    )
    await approve_all(reviews, id)
    args = (await client.read(id))["outcome"]["execute"][0]["args"]
    assert encode(args) == stored


async def test_promise_4_submitting_again_finds_the_same_review(client: Client):
    """Given an answer that was lost; when the turn is submitted again, named or not; then nothing is new."""
    for which in ({}, {"turn": "m1"}):
        first = await client.submit(tool_call(n=1), **which)
        again = await client.submit(tool_call(n=1), **which)
        assert (first.status, again.status) == (201, 200)
        assert again.body == first.body


async def test_call_ids_that_come_again_are_asked_again(client: Client, reviews: Reviews):
    """Given an agent that names no turns; when its review is done, then the same ids are the next one."""
    first = (await client.submit(tool_call())).body["id"]
    await approve_all(reviews, first)
    await client.done(first)

    second = await client.submit(tool_call(n=2))

    assert second.status == 201
    assert (second.body["turn"], second.body["status"]) == ("#2", "pending")
    assert second.body["id"] != first


async def test_a_turn_with_other_arguments_is_a_conflict(client: Client):
    await client.submit(tool_call(n=1), turn="m1")

    reply = await client.submit(tool_call(n=2), turn="m1")

    assert (reply.status, reply.code) == (409, "conflict")


@pytest.mark.parametrize("turn", [{}, {"turn": "m1"}])
async def test_a_turn_for_another_requester_is_a_conflict(client: Client, turn: Any):
    """Given Ann's call that waits, when an agent submits the same one for Bob, named or not, then it is not
    told that Ann's review is his: he could approve it."""
    await client.submit(tool_call(n=1), requester="U0ANN", **turn)

    reply = await client.submit(tool_call(n=1), requester="U0BOB", **turn)

    assert (reply.status, reply.code) == (409, "conflict")


async def test_a_threads_reviews_are_those_of_this_agent(client: Client, other: Any):
    """Given two turns of a thread, and another agent's in the same; then each agent lists its own."""
    stranger = await other(agent="support")
    mine = [(await client.submit(tool_call(), turn=f"m{n}")).body["id"] for n in (1, 2)]
    theirs = (await stranger.submit(tool_call(), turn="m1")).body["id"]

    found = await client.get("/v1/reviews?thread_id=t-1")
    assert [review["id"] for review in found.body["reviews"]] == mine
    found = await stranger.get("/v1/reviews?thread_id=t-1")
    assert [review["id"] for review in found.body["reviews"]] == [theirs]
    assert len((await client.get("/v1/reviews?thread_id=t-1&limit=1")).body["reviews"]) == 1


async def test_a_worker_is_given_what_is_ready(client: Client, reviews: Reviews, other: Any):
    """Given a pending, a settled and another agent's settled review; then only the settled one is
    ready, until a holder has it."""
    await client.submit(tool_call(), turn="m1")
    await (await other(agent="support")).submit(tool_call(name="look_up"), turn="m3")
    id = (await client.submit(tool_call(), turn="m2")).body["id"]
    await approve_all(reviews, id)

    ready = (await client.get("/v1/reviews?status=settled")).body["reviews"]

    assert [review["id"] for review in ready] == [id]
    await client.once(id)
    assert (await client.get("/v1/reviews?status=settled")).body["reviews"] == []


async def test_a_review_that_a_living_gate_waits_for_is_left_to_it(
    client: Client, store: RedisStore
):
    """Given a process of the same agent that waits for its own review; then no worker is offered it
    while that process lives."""
    id = (await client.submit(tool_call(name="look_up"))).body["id"]
    await store.send_heartbeat("p1", 30.0)
    await Reviews(store).change(id, "op", lambda r, now: claims.set_waiting_process(r, "p1", now))

    assert (await client.get("/v1/reviews?status=settled")).body["reviews"] == []
    await store.send_heartbeat("p1", 0.001)
    assert (await client.get("/v1/reviews?status=settled&wait=1")).body["reviews"]


async def test_promise_7_reading_decides_and_claims_nothing(client: Client, reviews: Reviews):
    """Given a settled review, read in every way; then it is stored as it was."""
    id = (await client.submit(tool_call())).body["id"]
    await approve_all(reviews, id)
    before = (await reviews.load(id)).review
    for path in ("?wait=1", "", "/once", "/done", "/renew", "/cancel"):
        await client.get(f"/v1/reviews/{id}{path}")
        await client.send("HEAD", f"/v1/reviews/{id}{path}")
    await client.get("/v1/reviews?status=settled&wait=1")

    assert (await reviews.load(id)).review == before


@pytest.mark.parametrize("wait", [0, 5])
async def test_another_agents_review_is_no_review(client: Client, other: Any, wait: int):
    """Given another agent's review; then every route answers as for an id that nobody has."""
    stranger = await other(agent="support")
    id = (await client.submit(tool_call(name="look_up"))).body["id"]
    nobody = id[:-4] + "0000"
    for method, path in [
        ("GET", f"?wait={wait}"),
        ("POST", "/once"),
        ("POST", "/renew"),
        ("POST", "/done"),
        ("POST", "/cancel"),
    ]:
        body = b'{"tool_call_id":"c1"}' if path == "/once" else b"{}" if method == "POST" else None
        answers = [
            await stranger.send(
                method, f"/v1/reviews/{each}{path}", body, Content_Type="application/json"
            )
            for each in (id, nobody, "nonsense", "0-" + "f" * 32)
        ]
        assert {answer.status for answer in answers} == {404}
        assert len({str(answer.body) for answer in answers}) == 1
    assert (await client.read(id))["status"] == "settled"


async def test_two_submits_at_once_are_one_review(client: Client):
    replies = await asyncio.gather(*(client.submit(tool_call(n=1), turn="m1") for _ in range(5)))

    assert sorted(reply.status for reply in replies) == [200, 200, 200, 200, 201]
    assert len({reply.body["id"] for reply in replies}) == 1


@pytest.mark.parametrize("query", ["status=settled", "thread_id=t-1"])
async def test_a_list_ends_where_it_gets_too_large(client: Client, query: str):
    """Given three reviews of 2.5 MB; then two are listed, the longest waiting ones, and when these are done
    the third."""
    calls = [tool_call(f"c{n}", name="look_up", a="x" * 250_000) for n in range(10)]
    ids = [(await client.submit(*calls, turn=f"m{n}")).body["id"] for n in range(3)]

    async def settled_ids() -> list[str]:
        reviews = (await client.get(f"/v1/reviews?{query}")).body["reviews"]
        return [review["id"] for review in reviews if review["status"] == "settled"]

    assert await settled_ids() == ids[:2]
    for id in ids[:2]:
        await client.done(id)
    assert await settled_ids() == ids[2:]


async def test_a_review_that_is_too_large_for_a_list_is_listed_alone(
    client: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(agent_api, "MAX_BODY", 10)
    ids = [
        (await client.submit(tool_call(name="look_up", a="x" * 20), turn=f"m{n}")).body["id"]
        for n in range(2)
    ]

    listed = (await client.get("/v1/reviews?status=settled")).body["reviews"]

    assert [review["id"] for review in listed] == ids[:1]


async def test_cancelled_reviews_hide_none_that_can_run(client: Client, store: RedisStore):
    """Given reviews that were cancelled, and that nobody marks as done; then only the one that can run is
    offered, and the others are kept no longer than what is done."""
    for n in range(3):
        id = (await client.submit(tool_call(), turn=f"m{n}")).body["id"]
        cancelled = (await client.post(f"/v1/reviews/{id}/cancel")).body
        assert cancelled["status"] == "done"
        assert [answer["tool_call_id"] for answer in cancelled["outcome"]["answers"]] == ["c1"]
    runs = (await client.submit(tool_call(name="look_up"), turn="m3")).body["id"]

    listed = (await client.get("/v1/reviews?status=settled&limit=1")).body["reviews"]

    assert [review["id"] for review in listed] == [runs]
    assert await store.ready_reviews("billing", 10) == await store.live_ids() == [runs]


async def test_reviews_that_cannot_be_claimed_hide_none_that_can(
    client: Client, redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    """Given more reviews that can't be read than are looked at together; then the one after them is offered,
    also to a client that waits."""
    monkeypatch.setattr(agent_api, "MAX_LISTED", 2)
    turns = [await client.submit(tool_call(name="look_up"), turn=f"m{n}") for n in range(6)]
    ids = [turn.body["id"] for turn in turns]
    with redis.Redis.from_url(redis_url) as admin:
        for id in ids[:5]:
            admin.hset(Keys(0).review(id), "data", b"damaged")

    for query in ("", "&wait=1"):
        listed = (await client.get(f"/v1/reviews?status=settled{query}")).body["reviews"]
        assert [review["id"] for review in listed] == ids[5:]


async def test_a_gate_hears_of_what_the_http_api_cancels(client: Client, redis_url: str):
    """Given a process that waits for a review of the HTTP API, and one that serves what it submitted itself,
    as LangGraph does; when both are cancelled through the HTTP API, then each has its outcome."""
    calls = [ToolCall("c1", "ask", {})]
    async with Gate.connect(redis_url, policy=policy(), agent="billing") as gate:
        theirs = (await client.submit(tool_call(), turn="m1")).body["id"]
        waiting = asyncio.create_task(gate.wait(theirs))
        await wait_until("it waits", lambda: _waiter_is(gate, theirs))
        served = await gate.submit(calls, thread_id="t-2", turn="m2")

        for id in (theirs, served):
            reply = await client.post(f"/v1/reviews/{id}/cancel", {"reason": "The user went on"})
            assert reply.status == 200

        async with asyncio.timeout(30):
            settled = await anext(gate.outcomes())
            waited = await waiting
        assert settled.review_id == served
        for outcome in (settled, waited):
            assert not outcome.execute
            assert "The user went on" in outcome.answers[0].content


async def _waiter_is(gate: Gate, id: str) -> bool:
    return (await gate.reviews.load(id)).review.waiting_process == gate.process


async def test_who_waits_too_late_gets_what_the_http_api_cancelled(client: Client, redis_url: str):
    """Given a review that was cancelled, and so is done; then a process that waits gets the outcome."""
    id = (await client.submit(tool_call())).body["id"]
    await client.post(f"/v1/reviews/{id}/cancel", {"reason": "The user went on"})
    async with Gate.connect(redis_url, policy=policy(), agent="billing") as gate:
        async with asyncio.timeout(30):
            outcome = await gate.wait(id)

    assert not outcome.execute
    assert "The user went on" in outcome.answers[0].content


async def test_large_reviews_are_listed_as_they_are_read(client: Client):
    """HTTP a: each is written beside the event loop. Then a list and one review say the same."""
    turns: list[dict[str, Any]] = [{"a": [[[[]]]] * 2_000}, {"a": 1.0}, {"a": "é" * 9_000}]
    for number, args in enumerate(turns):
        calls = [tool_call(name="look_up", **args), tool_call("c2", "ask", **args)]
        assert (await client.submit(*calls, turn=f"m{number}")).status == 201

    listed = (await client.get("/v1/reviews?thread_id=t-1")).body["reviews"]

    assert len(listed) == 3
    assert listed == [await client.read(each["id"]) for each in listed]


async def test_a_call_has_the_reason_that_was_submitted(client: Client, store: RedisStore):
    """Given a call with a reason; then it is stored, and the arguments and their hash are those of a
    call without one."""
    told = {**tool_call(), "reason": "The invoice is due."}
    id = (await client.submit(told)).body["id"]
    snapshot = await store.load(id)
    assert snapshot is not None
    assert snapshot.review.calls[0].reason == "The invoice is due."
    assert (await client.submit(tool_call())).body["id"] == id


async def test_a_reason_that_is_too_long_is_refused(client: Client):
    reply = await client.submit({**tool_call(), "reason": "x" * 2001})
    assert (reply.status, reply.code) == (422, "invalid")
    assert "/calls/0/reason" in reply.body["detail"]
