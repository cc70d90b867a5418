"""deepagents: its own sub-agent, sub-agents of the application, and its fixed order of middlewares."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

from hitl_core.errors import IntegrationError
from tests.integrations.agents import ByTask, Lab, Script, answers, call, go, tools
from tests.support.waiting import wait_until

create_deep_agent: Any = pytest.importorskip("deepagents").create_deep_agent

SENDS = [call("i1", "send_email", to="a")]


def to(agent: str, id: str = "t1", task: str = "part") -> dict[str, Any]:
    return call(id, "task", description=task, subagent_type=agent)


def deep(lab: Lab, *turns: Any, inside: list[Any] | None = None, **options: Any) -> Any:
    """Its agent, with the turns of the main one and of the sub-agent that does "part"."""
    return create_deep_agent(
        ByTask(turns=list(turns), parts={"part": inside or []}),
        tools(lab.folder / "effects"),
        interrupt_on={"send_email": True},
        checkpointer=lab.saver,
        **options,
    )


CUSTOM: dict[str, Any] = {"name": "mailer", "description": "Mails.", "system_prompt": "Mail."}


def subagents(kind: str, lab: Lab) -> tuple[str, dict[str, Any]]:
    """Its name, and what `create_deep_agent` is given for it."""
    if kind == "general-purpose":
        return kind, {}
    if kind == "compiled":
        from langchain.agents.middleware import HumanInTheLoopMiddleware

        runnable = create_agent(
            ByTask(turns=[], parts={"part": [SENDS]}),
            tools(lab.folder / "effects"),
            middleware=[HumanInTheLoopMiddleware({"send_email": True})],
        )
        compiled = {"name": "compiled", "description": "Mails.", "runnable": runnable}
        return kind, {"subagents": [compiled]}
    return "mailer", {"subagents": [CUSTOM]}


async def stops(lab: Lab, driver: Any, *decisions: Any) -> Any:
    """Run, and decide one review a stop."""
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        for number, each in enumerate(decisions):
            [review_id] = run.review_ids
            await lab.decide(review_id, each)
            await lab.done(review_id)
            await wait_until("the next stop", lambda number=number: len(lab.stops) > number)
            run = lab.stops[number]
    return run


@pytest.mark.parametrize(
    ("decision", "effects"),
    [("approve", ["sent a"]), ({"to": "E"}, ["sent E"]), (("reject", "no"), [])],
)
async def test_the_main_agents_calls_are_reviewed(
    lab: Lab, decision: Any, effects: list[str]
) -> None:
    """dialects 1: deepagents appends middleware of its own after the user's, and an edit still runs."""
    run = await stops(lab, lab.reviews.drive(deep(lab, SENDS)), decision)
    assert run.finished
    assert lab.effects == effects


@pytest.mark.parametrize("kind", ["general-purpose", "custom", "compiled"])
@pytest.mark.parametrize(
    ("decision", "effects"),
    [("approve", ["sent a"]), ({"to": "E"}, ["sent E"]), (("reject", "no"), [])],
)
async def test_a_sub_agents_calls_are_reviewed(
    lab: Lab, kind: str, decision: Any, effects: list[str]
) -> None:
    """dialects 1: given a sub-agent that inherits `interrupt_on`, or was made apart, then people are asked,
    the card names it, and only what they decided runs."""
    name, options = subagents(kind, lab)
    driver = lab.reviews.drive(deep(lab, [to(name)], inside=[SENDS], **options))
    run = await stops(lab, driver, decision)
    assert run.finished
    assert answers(run)["t1"][1] == "the end of part"
    assert lab.effects == effects
    [review] = await lab.all_reviews("t-1")
    assert review.path == (name,)


@pytest.mark.parametrize("kind", ["general-purpose", "custom", "compiled"])
@pytest.mark.parametrize("policy", ["deny", True])
async def test_a_tool_that_the_policy_does_not_allow_runs_in_no_sub_agent(
    lab: Lab, kind: str, policy: Any
) -> None:
    """dialects 1: a denied tool ran silently in a sub-agent that deepagents adds by itself."""
    lab.set_policy(default="allow", interrupt_on={"run_sql": policy})
    name, options = subagents(kind, lab)
    drops = [call("i1", "run_sql", query="DROP TABLE orders")]
    agent = deep(lab, [to(name)], inside=[drops], **options)
    if kind == "compiled":
        options["subagents"][0]["runnable"] = create_agent(
            Script(turns=[drops]), tools(lab.folder / "effects")
        )
        agent = deep(lab, [to(name)], **options)
    run = await lab.reviews.drive(agent).run(go(), thread_id="t-1")
    assert run.finished
    assert lab.effects == []


async def test_a_sub_agent_is_resumed_by_another_process(lab: Lab) -> None:
    """Given a process that is gone while people decide, then another one continues inside the sub-agent."""
    turns = [to("general-purpose")], SENDS
    run = await lab.reviews.drive(deep(lab, turns[0], inside=[turns[1]])).run(go(), thread_id="t-1")
    other = Lab(lab.gate, lab.saver, lab.folder)
    driver = other.reviews.drive(deep(other, turns[0], inside=[turns[1]]))
    async with other.serving(driver):
        await other.decide(run.review_id, {"to": "E"})
        await other.done(run.review_id)
    assert lab.effects == ["sent E"]
    assert other.stops[-1].finished


async def test_two_sub_agents_at_once_wait_for_reviews_of_their_own(lab: Lab) -> None:
    both = [to("general-purpose"), to("general-purpose", "t2", "part")]
    driver = lab.reviews.drive(deep(lab, both, inside=[SENDS]))
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        first, second = run.review_ids
        await lab.decide(second, ("reject", "no"))
        await lab.done(second)
        await lab.decide(first, "approve")
        await wait_until("the end", lambda: lab.stops and lab.stops[-1].finished)
    assert lab.effects == ["sent a"]


async def test_a_sub_agent_that_is_made_during_the_run_calls_no_tool(lab: Lab) -> None:
    """deepagents compiles a sub-agent again for a response format that comes with the run: nothing could
    guard that one, so its tools are stopped, with a sentence."""
    lab.set_policy(default="allow", interrupt_on={"run_sql": "deny"})
    drops = [call("i1", "run_sql", query="DROP TABLE orders")]
    driver = lab.reviews.drive(deep(lab, [to("general-purpose")], inside=[drops]))
    shape = {"title": "Shape", "type": "object", "properties": {"a": {"type": "string"}}}
    config: Any = {"configurable": {"__deepagents_subagent_response_format": shape}}
    with pytest.raises(IntegrationError, match="has no guard"):
        await driver.run(go(), thread_id="t-1", config=config)
    assert lab.effects == []


async def test_a_deep_agent_as_a_sub_agent_is_reviewed(lab: Lab) -> None:
    """Given a deep agent inside a deep agent, then its calls are found though it stores its messages as
    differences."""
    inner = create_deep_agent(
        ByTask(turns=[], parts={"part": [SENDS]}),
        tools(lab.folder / "effects"),
        interrupt_on={"send_email": True},
    )
    sub = {"name": "inner", "description": "Mails.", "runnable": inner}
    driver = lab.reviews.drive(deep(lab, [to("inner")], subagents=[sub]))
    run = await stops(lab, driver, {"to": "E"})
    assert run.finished
    assert lab.effects == ["sent E"]


async def test_agents_on_another_server_are_refused(lab: Lab) -> None:
    remote: Any = {
        "name": "far",
        "description": "Far.",
        "graph_id": "g",
        "url": "http://127.0.0.1:9",
    }
    with pytest.raises(IntegrationError, match="another server"):
        lab.reviews.drive(deep(lab, subagents=[remote]))


async def test_a_tool_of_a_sub_agent_that_runs_an_agent_is_guarded(lab: Lab) -> None:
    """An agent in a tool of a sub-agent's own tools, in a tool's closure."""
    inner: Any = create_agent(
        Script(turns=[[call("k1", "run_sql", query="x")]]), tools(lab.folder / "effects")
    )

    @tool
    async def delegate(task: str) -> str:
        """Let another agent do it."""
        return str((await inner.ainvoke(go(task)))["messages"][-1].text)

    lab.set_policy(default="allow", interrupt_on={"run_sql": "deny"})
    sub = {**CUSTOM, "tools": [delegate]}
    agent = deep(lab, [to("mailer")], inside=[[call("d1", "delegate", task="x")]], subagents=[sub])
    run = await lab.reviews.drive(agent).run(go(), thread_id="t-1")
    assert run.finished
    assert lab.effects == []
