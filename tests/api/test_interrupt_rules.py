"""Interrupts of an agent: what the policy's rule and the schemas add to them."""

from __future__ import annotations

import pytest

from bot.api.policies import Policies
from hitl_core.errors import DecisionError
from hitl_core.policy import Policy
from hitl_core.review import Decide, escalation
from hitl_core.review.service import Reviews
from tests.api.client import Client, tool_call
from tests.api.conftest import Open
from tests.api.interrupts import ALL, INTERRUPTS, OK, POLICY, asks, batch, edit, post_interrupt
from tests.support.builders import person


async def test_the_policy_says_where_people_are_asked_and_until_when(
    client: Client, reviews: Reviews
):
    """Given a tool that the policy sends elsewhere, with a deadline; then its interrupt goes there, too, and
    at the deadline it is answered."""
    id = (await asks(client, "timed")).body["id"]
    review = (await reviews.load(id)).review
    assert review.places == ("slack:#first",)
    late = review.created_at + 31
    await reviews.change(id, "late", lambda review, _: escalation.apply_due(review, late))

    [decision] = (await client.read(id))["resume"]["decisions"]

    assert decision["type"] == "reject"
    assert "in time" in decision["message"]


async def test_a_call_that_the_agent_does_not_ask_about_has_the_policys_places(
    open_api: Open, reviews: Reviews
):
    """They are asked where it is in doubt later."""
    ops = Policy.from_mapping({"default": "allow", "notify": "slack:#ops", "interrupt_on": {}})
    client = await open_api(policies=Policies(ops))

    calls = [tool_call("c1", "look_up"), tool_call("c2", n=1)]
    id = (await post_interrupt(client, OK, calls=calls)).body["id"]

    review = (await reviews.load(id)).review
    assert [review.places_of(call) for call in review.calls] == [("slack:#ops",)] * 2


async def test_a_rule_takes_decisions_away_and_gives_none(open_api: Open):
    client = await open_api(policies=POLICY)

    reply = await asks(client, "only_yes", "approve", "edit", "reject")

    assert reply.body["actions"][0]["allowed_decisions"] == ["approve", "reject"]


async def test_a_rules_own_description_is_shown(open_api: Open):
    client = await open_api(policies=POLICY)

    reply = await asks(client, "told")

    assert reply.body["actions"][0]["description"] == "Costs money"


async def test_a_call_that_needs_nobody_is_asked_about_where_the_agent_asks(client: Client):
    reply = await asks(client, "look_up")

    assert reply.body["status"] == "pending"


async def test_the_policys_schema_and_the_interrupts_both_count(client: Client, reviews: Reviews):
    """Given a tool whose rule has a schema, and an interrupt that has another; then an edit must meet
    both."""
    interrupt = batch(("strict", {"n": 1}, ALL))
    interrupt["reviewConfigs"][0]["argsSchema"] = {"properties": {"n": {"minimum": 5}}}
    id = (await post_interrupt(client, interrupt)).body["id"]
    for n in (4, 11):
        with pytest.raises(DecisionError, match="/n: "):
            await reviews.apply(Decide(id, "1", edit(n=n), person(), f"op{n}"))

    await reviews.apply(Decide(id, "1", edit(n=6), person(), "op"))

    assert (await client.read(id))["resume"]["decisions"][0]["editedAction"]["args"] == {"n": 6}


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_the_agents_own_schemas_are_enforced(client: Client, reviews: Reviews):
    """Given a tool for which the policy has no schema; then an edit must meet the agent's, in calls and in
    interrupts, and may name another of its tools."""
    tools = {"ask": SCHEMA, "look_up": None}
    calls = (await client.submit(tool_call(n=1), tools=tools)).body["id"]
    interrupt = (await asks(client, "ask", tools=tools)).body["id"]
    for id in (calls, interrupt):
        with pytest.raises(DecisionError, match="/n: "):
            await reviews.apply(Decide(id, "1", edit(n="x"), person(), "wrong"))
        renamed = edit(n=5)._replace(name="look_up")
        await reviews.apply(Decide(id, "1", renamed, person(), "right"))

        review = await client.read(id)

        assert review["actions"][0]["decision"]["name"] == "look_up"
        assert review["outcome"]["execute"][0]["name"] == "look_up"
    edited = {"name": "look_up", "args": {"n": 5}}
    assert review["resume"] == {"decisions": [{"type": "edit", "editedAction": edited}]}


@pytest.mark.parametrize("name", ["langchain_per_call", "sagents", "agent_inbox"])
async def test_no_edit_renames_where_that_can_not_be_said(
    client: Client, reviews: Reviews, name: str
):
    id = (await post_interrupt(client, INTERRUPTS[name], tools={"look_up": None})).body["id"]

    assert (await reviews.load(id)).review.tools == {}
