"""Which process holds a review, and when it may start a call, renew its lease, or finish."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import redis

from hitl_core.model import Review
from hitl_core.review import Decide, claims
from hitl_core.review.service import Reviews
from hitl_core.review.transition import Transition
from tests.api.client import Client, tool_call
from tests.api.conftest import Open
from tests.support.builders import approve_all, person, proposal
from tests.support.waiting import wait_until


async def settle(client: Client, reviews: Reviews, *calls: dict[str, Any], **more: Any) -> str:
    """The id of a review in which everything was approved."""
    id = (await client.submit(*(calls or [tool_call()]), **more)).body["id"]
    await approve_all(reviews, id)
    return id


async def end_lease(reviews: Reviews, id: str) -> None:
    """As if its time had passed."""

    def end(review: Review, now: float) -> Transition:
        return claims.renew(review, review.fence, now, -1.0)

    await reviews.change(id, "end of the lease", end)


async def lapse(reviews: Reviews, id: str) -> None:
    """The holder is gone: its lease ends now, and a bot finds that out."""
    await end_lease(reviews, id)
    assert await reviews.apply_due(id)


async def run_again(reviews: Reviews, id: str) -> None:
    """A person says of a call in doubt that it may run again."""
    await reviews.change(id, "again", lambda r, now: claims.resolve(r, "1", "rerun", person(), now))


async def test_from_once_to_done(client: Client, reviews: Reviews):
    """Given an approved call; then it may start once, its lease can be renewed, and its result is kept."""
    id = await settle(client, reviews)

    first = await client.once(id, lease=30)

    now = (await reviews.load(id)).now
    assert first.body["run"] is True
    assert first.body["idempotency_key"] == f"{id}:1"
    assert 25 < first.body["lease_until"] - now <= 30
    assert (await client.read(id))["status"] == "claimed"
    assert (await client.once(id)).body["run"] is False
    renewed = await client.post(f"/v1/reviews/{id}/renew", {"lease": 3600})
    assert 3590 < renewed.body["lease_until"] - now < 3610
    done = await client.done(id, c1="sent as m-1\nand more")
    assert (done.status, done.body["status"]) == (200, "done")
    [answer] = done.body["outcome"]["answers"]
    assert answer["content"] == "Result of `ask`: sent as m-1"
    assert done.body["outcome"]["execute"] == []
    after = await client.once(id)
    assert (after.body["run"], after.body["lease_until"]) == (False, None)


async def test_promise_5_a_result_without_a_start_is_kept_and_the_call_starts_no_more(
    client: Client, reviews: Reviews
):
    """Given a framework that ran the call itself, without `once`; then its result is kept, because a refused
    one would let the next holder run it again."""
    id = await settle(client, reviews)

    done = await client.done(id, c1="sent")

    assert done.body["outcome"]["answers"][0]["content"] == "Result of `ask`: sent"
    assert (await client.once(id)).body["run"] is False


async def test_promise_5_of_all_who_ask_at_once_one_may_run(open_api: Open, reviews: Reviews):
    """Given two servers, and ten processes of a name each, or of the same; when all ask at the same
    moment; then exactly one is told to run."""
    bots = [await open_api(), await open_api()]
    bots[1].token = bots[0].token
    for holders in ([f"p{n}" for n in range(10)], [""] * 10):
        id = await settle(bots[0], reviews, turn=f"of {holders[0]}")

        replies = await asyncio.gather(
            *(bots[n % 2].once(id, holder=holder) for n, holder in enumerate(holders))
        )

        assert sum(r.status == 200 and r.body["run"] for r in replies) == 1
        assert {r.code for r in replies if r.status != 200} <= {"claimed_elsewhere", "busy"}


async def test_another_holder_must_wait(client: Client, reviews: Reviews, other: Any):
    """Given a review that one holder has; then another name, or another token of the agent, is refused
    by every route, and the review is untouched."""
    id = await settle(client, reviews)
    await client.once(id, holder="p1")
    before = (await reviews.load(id)).review
    token = await other()

    for who, holder in [(client, "p2"), (token, "p1")]:
        assert (await who.once(id, holder=holder)).code == "claimed_elsewhere"
        for route in ("renew", "done"):
            reply = await who.post(f"/v1/reviews/{id}/{route}", {"holder": holder})
            assert (reply.status, reply.code) == (409, "claimed_elsewhere")
        assert (await who.post(f"/v1/reviews/{id}/cancel")).code == "started"
    assert (await reviews.load(id)).review == before


async def test_nothing_starts_before_people_decided(client: Client):
    id = (await client.submit(tool_call())).body["id"]

    assert (await client.once(id)).code == "not_settled"
    for route in ("renew", "done"):
        assert (await client.post(f"/v1/reviews/{id}/{route}")).code == "not_settled"
    assert (await client.read(id))["status"] == "pending"


async def test_promise_1_what_nobody_approved_does_not_start(client: Client, reviews: Reviews):
    """Given a rejected and a denied call beside an approved one; then they are refused, claim nothing,
    and have no result."""
    id = (await client.submit(tool_call(), tool_call("c2", "drop_table"), tool_call("c3"))).body[
        "id"
    ]
    await reviews.apply(Decide(id, "1", proposal("reject"), person(), "op1"))
    await reviews.apply(Decide(id, "3", proposal("approve"), person(), "op3"))

    for call in ("c1", "c2"):
        assert (await client.once(id, call)).code == "not_allowed"
        refused = await client.done(id, **{call: "ran"})
        assert (refused.status, refused.code) == (409, "not_allowed")
        assert refused.body["detail"].startswith(f"/results/{call}: ")
    unknown = [await client.once(id, "c4"), await client.done(id, c4="ran")]
    assert {(reply.status, reply.code) for reply in unknown} == {(404, "no_such_call")}
    assert unknown[0].body["detail"].startswith("/tool_call_id: ")
    assert unknown[1].body["detail"].startswith("/results/c4: ")
    assert (await client.read(id))["status"] == "settled"
    assert (await client.once(id, "c3")).body["run"] is True


async def test_promise_5_a_dead_holder_leaves_a_doubt(client: Client, reviews: Reviews):
    """Given a holder that is gone between `once` and `done`; then nobody may start or end anything
    until a person says what became of the call; then it may start once more."""
    id = await settle(client, reviews, tool_call(), tool_call("c2"))
    await client.once(id, "c1", holder="p1")
    await lapse(reviews, id)

    review = await client.read(id, wait=1)
    assert (review["in_doubt"], review["outcome"]) == (["c1"], None)
    for call in ("c1", "c2"):
        assert (await client.once(id, call, holder="p1")).code == "in_doubt"
    assert (await client.post(f"/v1/reviews/{id}/renew", {"holder": "p1"})).code == "in_doubt"
    assert (await client.done(id, c1="ran")).code == "in_doubt"
    await run_again(reviews, id)
    assert (await client.once(id, "c1", holder="p2")).body["run"] is True
    assert (await client.once(id, "c1", holder="p2")).body["run"] is False


async def test_a_lease_that_has_just_ended_is_noticed_by_the_request_itself(
    client: Client, reviews: Reviews
):
    """Given a lease that ended, and no bot that looked; then renewing is refused, and `once` finds the
    doubt."""
    id = await settle(client, reviews)
    await client.once(id)
    await end_lease(reviews, id)

    assert (await client.post(f"/v1/reviews/{id}/renew")).code == "lease_lost"
    assert (await client.once(id)).code == "in_doubt"
    assert (await client.read(id))["in_doubt"] == ["c1"]


async def test_a_review_that_can_not_be_read_keeps_no_other_from_the_workers(
    client: Client, reviews: Reviews, redis_url: str
):
    """Given a ready review that a newer version wrote, as while bots are updated; then the next one is
    offered, and who asks for that one is told."""
    unreadable, other = [await settle(client, reviews, turn=turn) for turn in ("one", "two")]
    with redis.Redis.from_url(redis_url) as store:
        store.hset(f"hitl:{{0}}:review:{unreadable}", "data", '{"schema_version":99,')

    for wait in ("", "&wait=1"):
        listed = await client.get(f"/v1/reviews?status=settled{wait}")
        assert [one["id"] for one in listed.body["reviews"]] == [other]
    assert (await client.get(f"/v1/reviews/{unreadable}")).status == 503


async def test_a_call_that_was_not_started_needs_no_result(client: Client, reviews: Reviews):
    id = await settle(client, reviews, tool_call(), tool_call("c2"))
    await client.once(id)

    done = await client.done(id, c1="failed: no answer")

    answers = {a["tool_call_id"]: a["content"] for a in done.body["outcome"]["answers"]}
    assert answers["c1"] == "Result of `ask`: failed: no answer"
    assert answers["c2"] == "`ask` was not executed."


async def test_a_cancelled_review_runs_nothing(client: Client, reviews: Reviews):
    """Given an approved call; when the agent withdraws the review, then it may not start; and
    cancelling once more changes nothing."""
    id = await settle(client, reviews)

    reply = await client.post(f"/v1/reviews/{id}/cancel", {"reason": "The user went on"})

    assert reply.body["cancelled"]["reason"] == "The user went on"
    assert reply.body["outcome"]["jump_to_model"] is True
    assert (await client.once(id)).code == "cancelled"
    again = await client.post(f"/v1/reviews/{id}/cancel", {"reason": "Another"})
    assert (again.status, again.body) == (200, reply.body)
    assert (await client.done(id)).body["status"] == "done"
    assert (await client.once(id)).code == "cancelled"


async def test_cancelled_while_a_call_is_about_to_start(
    client: Client, reviews: Reviews, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Given a `once` that has read the review, and a cancel that comes in between; then nothing starts."""
    id = await settle(client, reviews)
    go = tmp_path / "go"
    monkeypatch.setenv("HITL_FAILPOINTS", f"api.before_once=pause:{go}")
    asked = asyncio.create_task(client.once(id))
    await client.get("/v1/openapi.json")  # sent after it, on another connection
    await client.post(f"/v1/reviews/{id}/cancel")
    go.touch()

    assert (await asked).code == "cancelled"
    assert (await reviews.load(id)).review.runs == {}


@pytest.mark.parametrize("lease", [4.9, 3601, 0, -1, 10**30, "60", True, None])
async def test_a_lease_has_bounds(client: Client, reviews: Reviews, lease: Any):
    id = await settle(client, reviews)

    reply = await client.once(id, lease=lease)

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith("/lease: ")
    assert (await client.read(id))["status"] == "settled"


async def test_many_calls_of_a_turn_may_start_at_once(client: Client, reviews: Reviews):
    """Given a turn of thirty calls, all asked for at the same moment by one holder; then all start."""
    calls = [tool_call(f"c{n}") for n in range(30)]
    id = await settle(client, reviews, *calls)

    replies = await asyncio.gather(*(client.once(id, call["id"]) for call in calls))

    assert all(reply.body["run"] for reply in replies)


async def test_promise_1_a_client_can_have_its_arguments_checked(client: Client, reviews: Reviews):
    """Given an edited call; when the client is about to run something else, then it is refused and nothing
    is claimed; what was decided starts, in the spelling of any language."""
    id = (await client.submit(tool_call(n=1))).body["id"]
    edited = {"n": 2.0, "list": [1, {"deep": True}], "none": None, "text": "ü"}
    await reviews.apply(Decide(id, "1", proposal("edit", **edited), person(), "op"))
    for other in (
        {"n": 1},
        {},
        {**edited, "n": "2"},
        {**edited, "n": True},
        {**edited, "n": 2.5},
        {**edited, "list": [1]},
        {**edited, "list": [1, {"deep": 1}]},
        {**edited, "none": 0},
        {**edited, "more": 1},
    ):
        assert (await client.once(id, args=other)).code == "args_changed"
    assert (await client.once(id, args=edited, name="look_up")).code == "args_changed"
    assert (await client.read(id))["status"] == "settled"

    assert (await client.once(id, args={**edited, "n": 2}, name="ask")).body["run"] is True


async def test_an_http_api_that_answers_late_starts_nothing(
    client: Client, reviews: Reviews, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Given a `once` that was stored, and a bot that is stopped before it answers; when
    the lease has ended, a person says Run again, and another holder starts the call; then the late answer is
    no yes."""
    id, go = await settle(client, reviews), tmp_path / "go"

    async def calls_in_doubt() -> Any:
        await reviews.apply_due(id)
        return (await reviews.load(id)).review.calls_in_doubt

    with monkeypatch.context() as armed:
        armed.setenv("HITL_FAILPOINTS", f"api.after_once=pause:{go}")
        late = asyncio.create_task(client.once(id, holder="slow", lease=5))
        await wait_until("the lease has ended", calls_in_doubt, 60)
    await reviews.change(id, "again", lambda r, now: claims.resolve(r, "1", "rerun", person(), now))
    other = await client.once(id, holder="quick")
    assert other.body["run"] is True
    go.touch()

    assert (await late).code == "lease_lost"
    assert other.body["fencing_token"] == 2


async def test_a_later_request_ends_no_lease_earlier(client: Client, reviews: Reviews) -> None:
    """Given a long call with a lease of an hour; when its holder starts a short one, or renews, and names no
    lease, then that hour stays: else the long call would be in doubt while it runs."""
    id = await settle(client, reviews, tool_call("c1"), tool_call("c2"))
    until = (await client.once(id, "c1", lease=3600)).body["lease_until"]

    second = await client.once(id, "c2")
    renewed = await client.post(f"/v1/reviews/{id}/renew")

    assert second.body["lease_until"] >= until
    assert renewed.body["lease_until"] >= until
