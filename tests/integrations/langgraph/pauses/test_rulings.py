"""LangChain says which tools interrupt. Our policy may add tools and be stricter, never looser."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.tools import tool
from pydantic import BaseModel

from hitl_core.cli.reviews.call_details import say_call
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.errors import IntegrationError
from tests.integrations.agents import ASKING, Lab, Script, answers, call, go
from tests.integrations.agents import tools as agents_tools


async def test_a_review_freezes_the_words_the_schema_and_the_place(lab: Lab) -> None:
    """Given a policy with a place, then the stored review has it, LangChain's prefix and the tool's
    schema."""
    lab.set_policy(default="allow", notify="slack:#finance")
    paused = await lab.driver([call("c1", "send_email", to="a")]).run(go(), thread_id="t-1")
    [action] = (await lab.review(paused.review_id)).actions
    assert action.request.description == "Tool execution requires approval"
    assert action.route.notify == ("slack:#finance",)
    assert action.config.allowed_decisions == ("approve", "edit", "reject", "respond")
    assert (action.config.args_schema or {})["required"] == ["to"]


async def test_a_denied_call_is_rejected_without_asking(lab: Lab) -> None:
    """Given a gated call that the policy denies beside one that it reviews, then people see only
    the other, and the model gets the policy's reason."""
    lab.set_policy(default="allow", interrupt_on={"run_sql": "deny"})
    driver = lab.driver([call("c1", "send_email", to="a"), call("c2", "run_sql", query="x")])
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        assert len((await lab.review(paused.review_id)).actions) == 1
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    status, text = answers(lab.stops[0])["c2"]
    assert status == "error"
    assert "The policy doesn't allow `run_sql`" in text
    assert lab.effects == ["sent a"]


async def test_a_turn_that_is_denied_whole_goes_on_without_people(lab: Lab) -> None:
    """Given that the policy denies all that interrupts, then the review is settled at once."""
    lab.set_policy(default="allow", interrupt_on={"send_email": "deny"})
    driver = lab.driver([call("c1", "send_email", to="a")])
    async with lab.serving(driver):
        await lab.done((await driver.run(go(), thread_id="t-1")).review_id)
    assert lab.stops[0].finished
    assert lab.effects == []


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (
            {"default": "allow", "interrupt_on": {"read": True}},
            "add `read` to interrupt_on in the agent",
        ),
        ({"default": "allow", "interrupt_on": {"read": "deny"}}, "The policy doesn't allow `read`"),
        (
            {"default": "deny", "interrupt_on": {"send_email": True}},
            "The policy doesn't allow `read`",
        ),
    ],
)
@pytest.mark.parametrize("beside", [True, False])
async def test_the_guard_stops_a_call_that_nobody_was_asked_about(
    lab: Lab, policy: Any, text: str, beside: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a call that LangChain lets pass and the policy does not, alone or in a turn with a
    review, then it does not run and the model is told why. If it is alone and needs a person, no card
    shows it, so the log has what the agent lacks."""
    lab.set_policy(**policy)
    email = [call("c2", "send_email", to="a")] if beside else []
    driver = lab.driver([call("c1", "read", topic="x"), *email])
    run = await driver.run(go(), thread_id="t-1")
    if beside:
        async with lab.serving(driver):
            await lab.decide(run.review_id, "approve")
            await lab.done(run.review_id)
        run = lab.stops[0]
    status, texts = answers(run)["c1"]
    assert (status, text in texts) == ("error", True)
    assert lab.effects == (["sent a"] if beside else [])
    is_logged = "A call of 'read' does not run: " in caplog.text
    assert is_logged == (not beside and text.startswith("add"))


async def test_a_configuration_that_leaves_nothing_to_decide_is_told_to_the_caller(
    lab: Lab,
) -> None:
    lab.set_policy(default="allow", interrupt_on={"run_sql": {"allowed_decisions": ["edit"]}})
    with pytest.raises(IntegrationError, match="No decision is possible on `run_sql`"):
        await lab.driver([call("c1", "run_sql", query="x")]).run(go(), thread_id="t-1")
    assert lab.effects == []


class Creds(BaseModel):
    user: str


async def test_a_denial_names_no_key_of_a_hidden_value_to_people(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    """Given a call with a key that its tool doesn't accept, in a value that the policy hides, then the
    model reads which key it is, and people read nothing of it."""

    @tool
    def login(creds: Creds) -> str:
        """Log in."""
        return "in"

    lab.set_policy(default="review", interrupt_on={"login": {"redact": ["/creds"]}})
    turn = [
        call("c1", "login", creds={"user": "x", "hunter2key": 1}),
        call("c2", "send_email", to="a"),
    ]
    asking = HumanInTheLoopMiddleware({"login": True, "send_email": True})
    tools = [login, *agents_tools(lab.folder / "effects")]
    agent = create_agent(Script(turns=[turn]), tools, middleware=[asking], checkpointer=lab.saver)
    driver = lab.reviews.drive(agent, allow_in_memory=True)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        snapshot = await lab.gate.reviews.load(str(paused.review_id))
        for each in snapshot.review.calls:
            say_call(snapshot, each, rest=None)
        read = capsys.readouterr().out + json.dumps(review_to_json(snapshot, with_args=True))
        await lab.decide(paused.review_id, "approve")
        await lab.done(paused.review_id)
    assert "hunter2key" not in read
    assert "hunter2key" in answers(lab.stops[0])["c1"][1]


class Delivery(BaseModel):
    """The agent's answer."""

    city: str


async def test_the_agents_own_answer_format_needs_no_person(lab: Lab) -> None:
    """Given a policy that reviews all tools, when the agent gives its answer as a tool call (LangChain's
    ToolStrategy), alone and beside a call that people approve, then nobody is asked about the answer, and the
    agent has it."""
    lab.set_policy(default="review")
    answer = call("c2", "Delivery", city="Bern")
    for thread, turns in (
        ("t-1", [[answer]]),
        ("t-2", [[call("c1", "send_email", to="a"), answer]]),
    ):
        agent = create_agent(
            Script(turns=turns),
            agents_tools(lab.folder / "effects"),
            middleware=[HumanInTheLoopMiddleware(ASKING)],
            response_format=ToolStrategy(Delivery),
            checkpointer=lab.saver,
        )
        driver = lab.reviews.drive(agent)
        run = await driver.run(go(), thread_id=thread)
        if thread == "t-2":
            [action] = (await lab.review(run.review_id)).actions
            assert action.name == "send_email"
            async with lab.serving(driver):
                await lab.decide(run.review_id, "approve")
                await lab.done(run.review_id)
            [run] = lab.stops
        assert run.finished
        assert run.state["structured_response"] == Delivery(city="Bern")
    assert lab.effects == ["sent a"]
