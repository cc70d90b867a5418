"""The end of a review that an agent holds over HTTP, and calls that run again."""

from __future__ import annotations

from typing import Any

from hitl_core.review import AnswerDoubt, Decide
from hitl_core.review.service import Reviews
from tests.api.client import Client, tool_call
from tests.api.test_holding import end_lease, lapse, run_again, settle
from tests.support.builders import person, proposal


async def test_a_declared_idempotent_call_runs_again_by_itself(client: Client, reviews: Reviews):
    id = await settle(client, reviews, tool_call(name="rerunnable"))
    first = await client.once(id, holder="p1")
    await lapse(reviews, id)

    again = await client.once(id, holder="p2")

    assert again.body["run"] is True
    assert again.body["idempotency_key"] == first.body["idempotency_key"]


async def test_promise_4_a_lost_answer_can_be_asked_for_again(client: Client, reviews: Reviews):
    """Given a client that names its operations; then the same key gets the same answer, and no key the
    safe one; a key that comes with another call is another operation."""
    id = await settle(client, reviews, tool_call(), tool_call("c2"))

    assert (await client.once(id, key="k1")).body["run"] is True
    assert (await client.once(id, key="k1")).body["run"] is True
    assert (await client.once(id, key="k2")).body["run"] is False
    assert (await client.once(id)).body["run"] is False
    assert (await client.once(id, "c2", key="k1")).body["run"] is True
    assert (await client.done(id, key="k3", c1="one", c2="two")).status == 200
    assert (await client.done(id, key="k3", c1="other")).status == 200
    assert (await client.once(id, key="k1")).body["run"] is False


async def test_promise_5_an_old_key_starts_nothing_in_a_later_claim(
    client: Client, reviews: Reviews
):
    """Given a call that started under a key, was in doubt, and was started again by order of a person;
    then the old key says false, also to the holder that has it now."""
    id = await settle(client, reviews)
    assert (await client.once(id, key="k1", holder="p1")).body["run"] is True
    await lapse(reviews, id)
    assert (await client.once(id, key="k1", holder="p1")).code == "in_doubt"
    await run_again(reviews, id)
    assert (await client.once(id, key="k2", holder="p1")).body["run"] is True

    assert (await client.once(id, key="k1", holder="p1")).body["run"] is False
    assert (await client.once(id, key="k2", holder="p1")).body["run"] is True


async def test_a_key_belongs_to_its_token(client: Client, reviews: Reviews, other: Any):
    """Given two tokens of an agent that use the same key; then only the one that started the call is
    told so."""
    id = await settle(client, reviews)
    assert (await client.once(id, key="k1")).body["run"] is True

    assert (await (await other()).once(id, key="k1")).code == "claimed_elsewhere"


async def test_done_can_be_said_twice_but_not_differently(client: Client, reviews: Reviews):
    """Given a review that is done; then the same results again are fine without a key, and others are
    refused, as they would be lost."""
    id = await settle(client, reviews)
    await client.once(id)
    await client.done(id, c1="sent")

    assert (await client.done(id, c1="sent")).status == 200
    assert (await client.done(id)).status == 200
    assert (await client.done(id, c1="not sent")).code == "done"
    assert (await client.done(id, c9="?")).code == "done"
    assert (await client.post(f"/v1/reviews/{id}/renew")).code == "done"


async def test_done_without_anything_to_run_needs_no_claim(client: Client, reviews: Reviews):
    id = (await client.submit(tool_call())).body["id"]
    await reviews.apply(Decide(id, "1", proposal("reject"), person(), "op"))

    assert (await client.done(id)).body["status"] == "done"


async def test_promise_5_a_call_that_was_started_must_have_a_result(
    client: Client, reviews: Reviews
):
    """Given a client that was restarted under its name after it started a call; then it is told that the call
    was started, and it can't end the review as if it knew what became of it; a person is asked."""
    id = await settle(client, reviews, tool_call(), tool_call("c2"))
    await client.once(id)

    assert (await client.once(id)).body["run"] is False
    for results in ({}, {"c2": "sent"}):
        refused = await client.done(id, **results)
        assert (refused.status, refused.code) == (409, "no_result")
        assert "The call 'c1' was started. Send its result" in refused.body["detail"]

    await lapse(reviews, id)
    assert (await client.read(id))["in_doubt"] == ["c1"]


async def test_promise_5_what_people_ordered_to_run_again_is_not_done_before_it_ran(
    client: Client, reviews: Reviews
):
    """Given a client that got no answer about its start, and people who ordered to run the call again; when
    it sends its `done` once more, then that is refused, nothing is claimed, and `once` runs the call."""
    id = await settle(client, reviews)
    await client.once(id)
    await lapse(reviews, id)
    await reviews.apply(AnswerDoubt(id, "1", "rerun", person(), "op2"))

    refused = await client.done(id)

    assert (refused.status, refused.code) == (409, "no_result")
    assert "is to run again: send `once`" in refused.body["detail"]
    assert (await client.read(id))["status"] == "settled"
    assert (await client.once(id)).body["run"] is True
    assert (await client.done(id, c1="sent")).status == 200


async def test_a_review_in_doubt_is_offered_to_no_worker(client: Client, reviews: Reviews):
    """Given a lease that ended with a started call, which no bot has found out yet; then the review is not
    among those that can be claimed."""
    id = await settle(client, reviews)
    await client.once(id)
    await end_lease(reviews, id)

    assert (await client.get("/v1/reviews?status=settled")).body["reviews"] == []
