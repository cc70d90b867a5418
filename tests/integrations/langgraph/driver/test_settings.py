"""A resumed run has the context and config of its own thread, and each part of a run can be streamed."""

from __future__ import annotations

import asyncio
import contextvars
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command, interrupt

from hitl_core.errors import IntegrationError, Refused
from hitl_core.integrations.langgraph import Driver, Run
from tests.integrations.agents import Lab, Script, answers, call, go
from tests.support.waiting import wait_until


@dataclass
class User:
    name: str


def asking(lab: Lab, turns: int = 1, **options: Any) -> Any:
    return lab.reviews.drive(asking_agent(lab, turns), **options)


def asking_agent(lab: Lab, turns: int = 1) -> Any:
    """An agent whose tool says for whom, and with which label, it ran."""

    @tool
    async def send_email(to: str, runtime: ToolRuntime[User]) -> str:
        """Send an e-mail."""
        label = runtime.config.get("configurable", {}).get("label", "none")
        user = getattr(runtime.context, "name", "nobody")
        return f"{user} to {to}, {label}"

    return create_agent(
        Script(
            turns=[[call("c1", "send_email", to="a")], [call("c2", "send_email", to="b")]][:turns]
        ),
        [send_email],
        middleware=[HumanInTheLoopMiddleware({"send_email": True})],
        context_schema=User,
        checkpointer=lab.saver,
    )


def label_config(label: str) -> Any:
    return {"configurable": {"label": label}}


def answers_by_thread(lab: Lab) -> dict[str, str]:
    return {run.thread_id: answers(run)["c1"][1] for run in lab.stops}


async def test_each_thread_is_resumed_with_its_own_settings(lab: Lab) -> None:
    """Given two threads with a context and config of their own, and one without, then each is resumed with
    what it began with, and nothing reaches another."""
    driver = asking(lab, context=User("default"))
    async with lab.serving(driver):
        first = await driver.run(
            go(), thread_id="t-1", context=User("Ann"), config=label_config("blue")
        )
        second = await driver.run(go(), thread_id="t-2", context=User("Bob"))
        third = await driver.run(go(), thread_id="t-3")
        for run in (third, second, first):
            await lab.decide(run.review_id, "approve")
            await lab.done(run.review_id)
    assert answers_by_thread(lab) == {
        "t-1": "Ann to a, blue",
        "t-2": "Bob to a, none",
        "t-3": "default to a, none",
    }


async def test_another_process_makes_them_from_the_threads_id(lab: Lab) -> None:
    async def user(thread_id: str) -> User:
        return User(f"user of {thread_id}")

    run = await asking(lab).run(go(), thread_id="t-1", context=User("Ann"))
    other = Lab(lab.gate, lab.saver, lab.folder)
    driver = asking(other, context=user, config=label_config)
    async with other.serving(driver):
        await other.decide(run.review_id, "approve")
        await other.done(run.review_id)
    assert answers_by_thread(other) == {"t-1": "user of t-1 to a, t-1"}


async def test_a_process_that_does_not_know_them_does_not_go_on(lab: Lab) -> None:
    """Given a run with a context of its own, then a process that can't know it refuses, and nothing runs
    under another one."""
    run = await asking(lab).run(go(), thread_id="t-1", context=User("Ann"))
    other = asking(Lab(lab.gate, lab.saver, lab.folder), context=User("default"))
    await lab.decide(run.review_id, "approve")
    with pytest.raises(IntegrationError, match="its own `context`"):
        await other.run(None, thread_id="t-1")


async def test_an_answer_by_hand_goes_on_with_the_runs_own(lab: Lab) -> None:
    """Given a run that waits at a question for its caller to answer, then its context is still its own."""

    @tool
    async def ask(what: str, runtime: ToolRuntime[User]) -> str:
        """Ask the caller."""
        return f"{interrupt(what)}, {runtime.context.name}"

    agent = create_agent(
        Script(turns=[[call("c1", "ask", what="Which?")]]),
        [ask],
        context_schema=User,
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    run = await driver.run(go(), thread_id="t-1", context=User("Ann"))
    [question] = run.unknown
    run = await driver.run(Command(resume={question.id: "this"}), thread_id="t-1")
    assert answers(run)["c1"] == ("success", "this, Ann")


async def test_a_new_run_begins_with_nothing_of_the_last_one(lab: Lab) -> None:
    driver = asking(lab)
    run = await driver.run(go(), thread_id="t-1", context=User("Ann"), config=label_config("blue"))
    again = await driver.run(go("again"), thread_id="t-1", context=User("Bob"))
    assert run.review_id != again.review_id or run.review_id is None
    async with lab.serving(driver):
        if again.review_id is not None:
            await lab.decide(again.review_id, "approve")
            await lab.done(again.review_id)
    assert "Ann" not in str(lab.stops)


async def test_the_resumed_leg_is_streamed_like_the_first(lab: Lab) -> None:
    """dialects 11: given a listener, also one that raises, then it gets each step of both parts, with the
    thread's id."""
    seen: list[tuple[str, str]] = []

    async def stream(thread_id: str, chunk: Any) -> None:
        seen.append((thread_id, next(iter(chunk))))
        raise ValueError

    driver = asking(lab, stream=stream)
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        assert seen == [("t-1", "model"), ("t-1", "__interrupt__")]
        seen.clear()
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert ("t-1", "tools") in seen
    assert seen[-1] == ("t-1", "model") or seen[-1][1].startswith("HumanInTheLoop")


@pytest.mark.parametrize("new", [{}, {"context": User("Bob"), "config": label_config("red")}])
async def test_a_refused_run_changes_no_settings_of_the_one_that_waits(
    lab: Lab, new: dict[str, Any]
) -> None:
    """Given a decided run of Ann, when another message is refused because the thread is busy, then Ann's run
    goes on as Ann's."""
    driver = asking(lab)
    run = await driver.run(go(), thread_id="t-1", context=User("Ann"), config=label_config("blue"))
    await lab.decide(run.review_id, "approve")
    with pytest.raises(Refused, match="still open"):
        await driver.run(go("again"), thread_id="t-1", **new)
    async with lab.serving(driver):
        await lab.done(run.review_id)
    assert answers(lab.stops[0])["c1"] == ("success", "Ann to a, blue")


@pytest.mark.parametrize("key", ["checkpoint_id", "checkpoint_ns"])
async def test_a_run_has_no_config_of_one_checkpoint(lab: Lab, key: str) -> None:
    """Given a config that names a checkpoint, at which the driver would not see where the run pauses, then it
    is refused, and the review that waits still waits."""
    config: Any = {"configurable": {key: "1f0c"}}
    driver = asking(lab)
    run = await driver.run(go(), thread_id="t-1")
    with pytest.raises(IntegrationError, match=key):
        await driver.run(go("again"), thread_id="t-1", config=config)
    with pytest.raises(IntegrationError, match=key):
        asking(lab, config=config)
    assert (await lab.review(run.review_id)).status == "pending"


async def test_a_run_goes_on_from_an_earlier_checkpoint(lab: Lab) -> None:
    """Given a thread that starts again from before the model's turn, as that error says, then people are
    asked again."""
    agent = lab.agent([call("c1", "send_email", to="a")])
    driver = lab.reviews.drive(agent)
    run = await driver.run(go(), thread_id="t-1")
    async with lab.serving(driver):
        await lab.decide(run.review_id, ("reject", "no"))
        await lab.done(run.review_id)
    history = [each async for each in agent.aget_state_history(thread_config("t-1"))]
    before = next(each for each in history[::-1] if each.next == ("model",))
    await agent.aupdate_state(before.config, None)
    again = await driver.run(None, thread_id="t-1")
    assert again.review_id not in (None, run.review_id)


def thread_config(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id}}


async def test_saved_input_begins_with_nothing_of_the_last_run(lab: Lab) -> None:
    """Given a run of Ann that waits, when somebody else's input is saved, then the run that continues with it
    is not Ann's."""
    driver = asking(lab, turns=2, context=User("default"))
    await driver.run(go(), thread_id="t-1", context=User("Ann"), config=label_config("blue"))
    await driver.save_input(go("again"), thread_id="t-1")
    run = await driver.run(None, thread_id="t-1")
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert answers(lab.stops[0])["c2"] == ("success", "default to b, none")


@pytest.mark.parametrize("given", [{}, {"context": User("Bob"), "config": label_config("red")}])
async def test_settings_of_a_run_are_not_those_of_a_later_run_of_its_thread(
    lab: Lab, given: dict[str, Any]
) -> None:
    """Given a process that knows Ann's settings of a thread, and a new run there that another process began,
    then the first one continues it as what it is, or not at all."""
    ours = asking(lab, turns=2, context=User("default"))
    other = Lab(lab.gate, lab.saver, lab.folder)
    theirs = asking(other, turns=2, context=User("default"))
    await ours.run(go(), thread_id="t-1", context=User("Ann"), config=label_config("blue"))
    run = await theirs.run(go("again"), thread_id="t-1", **given)
    await lab.decide(run.review_id, "approve")
    if given:
        with pytest.raises(IntegrationError, match="Another process started the run"):
            await ours.run(None, thread_id="t-1")
    else:
        async with lab.serving(ours):
            await lab.done(run.review_id)
        assert answers(lab.stops[0])["c2"] == ("success", "default to b, none")


async def test_settings_of_a_run_stay_when_code_changes_its_state(lab: Lab) -> None:
    """Given a run of Ann that waits, when the application changes its state by hand, then it is still Ann's
    run, and no process continues it as somebody else's."""
    agent = asking_agent(lab)
    driver = lab.reviews.drive(agent, context=User("default"))
    run = await driver.run(go(), thread_id="t-1", requester="U0ANN", context=User("Ann"))
    await agent.aupdate_state(thread_config("t-1"), {"messages": []}, as_node="model")
    await lab.decide(run.review_id, "approve")
    other = asking(Lab(lab.gate, lab.saver, lab.folder), context=User("default"))
    with pytest.raises(IntegrationError, match="its own `context`"):
        await other.run(None, thread_id="t-1")
    async with lab.serving(driver):
        await lab.done(run.review_id)
    assert answers(lab.stops[0])["c1"] == ("success", "Ann to a, none")


async def test_settings_of_a_run_stay_when_new_input_can_not_be_read(lab: Lab) -> None:
    """Given a run of Ann that waits, when input of Bob can't be read, then what is told to the model of the
    cancelled call is told in Ann's run."""
    driver = asking(lab, turns=2, context=User("default"))
    await driver.run(go(), thread_id="t-1", context=User("Ann"))
    with pytest.raises(NotImplementedError, match="Unsupported message type"):
        await driver.run({"messages": [object()]}, thread_id="t-1", context=User("Bob"))
    async with lab.serving(driver):
        next_review = await wait_until("people are asked again", lambda: next_stop(lab))
        await lab.decide(next_review, "approve")
        await lab.done(next_review)
    assert answers(lab.stops[-1])["c2"] == ("success", "Ann to b, none")


async def next_stop(lab: Lab) -> str | None:
    return lab.stops[0].review_id if lab.stops else None


async def test_a_run_that_other_code_began_goes_on_with_the_settings_of_who_drives_it(
    lab: Lab,
) -> None:
    """Given a thread that paused without the driver, and a driver that continues it with Ann's context, then
    what people approve runs with that."""
    agent = asking_agent(lab)
    driver = lab.reviews.drive(agent, context=User("default"))
    await agent.ainvoke(go(), thread_config("t-1"))
    run = await driver.run(None, thread_id="t-1", context=User("Ann"))
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert answers(lab.stops[0])["c1"] == ("success", "Ann to a, none")


async def test_a_run_that_other_code_began_has_nothing_of_the_run_before_it(lab: Lab) -> None:
    """Given a driver that continues a run of other code as Ann's, and a new run that this code begins there
    while the first one waits, then that one is continued without anything of Ann's."""
    agent = asking_agent(lab, turns=2)
    driver = lab.reviews.drive(agent, context=User("default"))
    await agent.ainvoke(go(), thread_config("t-1"))
    await driver.run(None, thread_id="t-1", context=User("Ann"))
    await agent.ainvoke(go("again"), thread_config("t-1"))
    run = await driver.run(None, thread_id="t-1")
    async with lab.serving(driver):
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert answers(lab.stops[0])["c2"] == ("success", "default to b, none")


async def test_a_run_inside_of_another_one_has_a_context_of_its_own(lab: Lab) -> None:
    """Given a node that starts a run of another agent, then it is told how, and that way works."""
    inner = asking(lab)

    async def node(state: Any) -> dict[str, Any]:
        with pytest.raises(IntegrationError, match="called inside of another run"):
            await inner.run(go(), thread_id="t-1")
        own = contextvars.Context()
        run = await asyncio.create_task(inner.run(go(), thread_id="t-1"), context=own)
        return {"messages": [("ai", str(run.review_id))]}

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    outer: Any = graph.compile(checkpointer=lab.saver)
    state = await outer.ainvoke(go(), thread_config("t-outer"))
    review_id = state["messages"][-1].text
    async with lab.serving(inner):
        await lab.decide(review_id, "approve")
        await lab.done(review_id)
    assert answers(lab.stops[0])["c1"] == ("success", "nobody to a, none")


async def test_a_run_does_not_wait_for_itself(lab: Lab) -> None:
    """Given a tool that continues the thread in which it runs, then it is told at once that it can't."""
    drivers: list[Driver] = []
    errors: list[BaseException] = []

    async def during() -> None:
        try:
            await asyncio.wait_for(drivers[0].run(None, thread_id="t-1"), 30)
        except Exception as error:
            errors.append(error)

    drivers.append(lab.driver([call("c1", "read", topic="a")], during=during))
    assert (await drivers[0].run(go(), thread_id="t-1")).finished
    assert [type(error) for error in errors] == [IntegrationError]


async def test_a_stream_callback_does_not_wait_for_its_own_run(lab: Lab) -> None:
    """Given a `stream` callback that sends input to its thread, then it is told at once that it can't, and
    the run goes on. A task of its own does so when the run has ended."""
    later: list[asyncio.Task[Run]] = []
    errors: list[BaseException] = []

    async def stream(thread_id: str, chunk: Any) -> None:
        if later:
            return
        later.append(asyncio.create_task(driver.run(go("later"), thread_id=thread_id)))
        try:
            async with asyncio.timeout(30):
                await driver.run(go("more"), thread_id=thread_id)
        except Exception as error:
            errors.append(error)

    agent = lab.agent([call("c1", "read", topic="a")])
    driver = lab.reviews.drive(agent, stream=stream)
    assert (await driver.run(go(), thread_id="t-1")).finished
    assert [type(error) for error in errors] == [IntegrationError]
    assert (await later[0]).finished
