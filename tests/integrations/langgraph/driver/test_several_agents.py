"""Two agents over one gate: a call runs only in the agent for which people approved it."""

from __future__ import annotations

import pytest

from hitl_core.errors import IntegrationError
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph import Driver
from hitl_core.model import AgentProblem
from tests.integrations.agents import Lab, call, go, running
from tests.support.waiting import wait_until


def make_driver(lab: Lab) -> Driver:
    return lab.driver([call("c1", "send_email", to="a")])


async def test_a_run_is_refused_while_another_agent_of_the_gate_is_served(lab: Lab) -> None:
    first, second = make_driver(lab), make_driver(lab)
    async with lab.serving(second):
        run = await second.run(go(), thread_id="t-1")
        with pytest.raises(IntegrationError, match="another `agent`"):
            await first.run(go(), thread_id="t-2")
        with pytest.raises(IntegrationError, match="another `agent`"):
            await first.save_input(go(), thread_id="t-2")
        with pytest.raises(IntegrationError, match="another `agent`"):
            await first.serve()
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert await lab.all_reviews("t-2") == []


async def test_an_agent_is_served_after_another_one_has_ended(lab: Lab) -> None:
    """Given an agent that was made again, when the driver of the old one no longer serves, then the new one
    does; two tasks may serve the same one."""
    old, new = make_driver(lab), make_driver(lab)
    async with running(old.serve()):
        run = await old.run(go(), thread_id="t-1")
    async with lab.serving(new), running(new.serve()):
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert lab.effects == ["sent a"]


async def test_agents_with_gates_of_their_own_run_side_by_side(lab: Lab) -> None:
    async with Gate(lab.gate.reviews.store, policy=lab.gate.policy, agent="other") as gate:
        other = Lab(gate, lab.saver, lab.folder)
        first, second = make_driver(lab), make_driver(other)
        async with lab.serving(first), other.serving(second):
            ours = await first.run(go(), thread_id="t-1")
            theirs = await second.run(go(), thread_id="t-2")
            for each, run in ((lab, ours), (other, theirs)):
                await each.decide(run.review_id, "approve")
                await wait_until("it stops", lambda each=each: is_stopped(each))
    assert [run.thread_id for run in (*lab.stops, *other.stops)] == ["t-1", "t-2"]


async def is_stopped(lab: Lab) -> bool:
    return bool(lab.stops)


async def test_a_run_of_another_agent_is_not_resumed(lab: Lab) -> None:
    """Given agents with names of their own, in two processes whose gates have one name, then a call that was
    approved for one does not run in the other, and people are told why."""
    ours, other = named(lab, "billing"), Lab(lab.gate, lab.saver, lab.folder)
    run = await ours.run(go(), thread_id="t-1")
    await lab.decide(run.review_id, "approve")
    async with other.serving(named(other, "support")):
        problem = await wait_until("it is told", lambda: problem_of(lab, run.review_id))
    assert "'billing' began the run of 't-1', and this process drives 'support'" in problem.why
    assert lab.effects == []
    async with lab.serving(ours):
        await lab.done(run.review_id)
    assert lab.effects == ["sent a"]


def named(lab: Lab, name: str) -> Driver:
    agent = lab.agent([call("c1", "send_email", to="a")])
    agent.name = name
    return lab.reviews.drive(agent)


async def problem_of(lab: Lab, review_id: str | None) -> AgentProblem | None:
    return (await lab.review(review_id)).agent_problem
