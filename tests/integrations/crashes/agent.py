"""An agent process to kill: `main(REDIS_URL, FOLDER, SHAPE)`, in a process of its own.

Starts its one run, or continues with it, and serves until it is killed. The answers for the model are written
to FOLDER/answers.json.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from hitl_core.gate import Gate
from hitl_core.integrations.langgraph import Driver, Run
from tests.integrations.agents import ASKING, POLICY, ByTask, Lab, Script, answers, call, go, tools

TURN = [
    call("c1", "send_email", to="a"),
    call("c2", "read", topic="x"),
    call("c3", "run_sql", query="DROP TABLE t"),
]
SECOND_TURN = [call("d1", "send_email", to="d")]


def node_driver(lab: Lab) -> Driver:
    """A graph whose node asks, and acts on the answer itself."""

    def node(state: MessagesState) -> dict[str, Any]:
        config = {"allow_accept": True, "allow_respond": True}
        action = {"action": "send_email", "args": {"to": "a"}}
        [answer] = interrupt([{"action_request": action, "config": config}])
        if answer["type"] == "accept":
            with (lab.folder / "effects").open("a") as file:
                file.write("sent a\n")
        if os.environ.get("DIE_IN_NODE"):
            os.kill(os.getpid(), signal.SIGKILL)
        return {"messages": [ToolMessage(json.dumps(answer), tool_call_id="c1")]}

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return lab.reviews.drive(graph.compile(checkpointer=lab.saver))


def nested_driver(lab: Lab) -> Driver:
    """The agent is a node of another graph, and asks a second time."""
    inner = create_agent(
        Script(turns=[TURN, SECOND_TURN]),
        tools(lab.folder / "effects"),
        middleware=[HumanInTheLoopMiddleware(ASKING)],
    )
    graph = StateGraph(MessagesState)
    graph.add_node("agent", inner)
    graph.add_edge(START, "agent")
    return lab.reviews.drive(graph.compile(checkpointer=lab.saver))


def handoff_driver(lab: Lab) -> Driver:
    """A reviewed tool that asks once more before it acts."""
    config = {"allow_accept": True, "allow_respond": True}
    return _asking_driver(lab, "transfer", config, acts_on="accept", effect="paid {to}")


def choosing_driver(lab: Lab, **more: bool) -> Driver:
    """A reviewed tool that asks which account to use, and acts with the answer."""
    config = {"allow_respond": True, **more}
    return _asking_driver(
        lab, "which_account", config, acts_on="response", effect="paid {to} from {args}"
    )


def _asking_driver(
    lab: Lab, question: str, config: dict[str, bool], *, acts_on: str, effect: str
) -> Driver:
    """A reviewed tool that asks this question, and acts if the answer has the type `acts_on`."""

    @tool
    def pay(to: str) -> str:
        """Pay somebody."""
        action = {"action": question, "args": {"to": to}}
        [answer] = interrupt([{"action_request": action, "config": config}])
        if answer["type"] == acts_on:
            with (lab.folder / "effects").open("a") as file:
                file.write(effect.format(to=to, args=answer["args"]) + "\n")
        if os.environ.get("DIE_IN_NODE"):
            os.kill(os.getpid(), signal.SIGKILL)
        return json.dumps(answer)

    return _paying_driver(lab, pay)


def _paying_driver(lab: Lab, pay: Any) -> Driver:
    """An agent that calls the reviewed tool `pay` once."""
    agent = create_agent(
        Script(turns=[[call("c1", "pay", to="a")]]),
        [pay],
        middleware=[HumanInTheLoopMiddleware({"pay": True})],
        checkpointer=lab.saver,
    )
    return lab.reviews.drive(agent)


def in_tool_driver(lab: Lab, mode: Any = "batched") -> Driver:
    """A tool of the agent runs another agent, which asks twice."""
    inner = create_agent(
        Script(turns=[TURN, SECOND_TURN]),
        tools(lab.folder / "effects"),
        middleware=[HumanInTheLoopMiddleware(ASKING, interrupt_mode=mode)],
        name="mailer",
    )

    @tool
    async def delegate(task: str) -> str:
        """Let the other agent do it."""
        done = await cast(Any, inner).ainvoke(go(task))
        if os.environ.get("DIE_AFTER_INNER"):
            os.kill(os.getpid(), signal.SIGKILL)
        text = [m for m in done["messages"] if isinstance(m, ToolMessage)]
        return json.dumps({m.tool_call_id: m.text for m in text})

    agent = create_agent(
        Script(turns=[[call("o1", "delegate", task="mail")]]),
        [delegate],
        checkpointer=lab.saver,
    )
    return lab.reviews.drive(agent)


def deep_driver(lab: Lab) -> Driver:
    """The sub-agent that deepagents adds by itself asks."""
    from importlib import import_module

    delegates = call("o1", "task", description="mail", subagent_type="general-purpose")
    agent = import_module("deepagents").create_deep_agent(
        ByTask(turns=[[delegates]], parts={"mail": [TURN]}),
        tools(lab.folder / "effects"),
        interrupt_on=ASKING,
        checkpointer=lab.saver,
    )
    return lab.reviews.drive(agent)


@wrap_tool_call
async def suspend(request: Any, handler: Any) -> Any:
    """Suspends the process before the tool STOP_BEFORE, between LangGraph's last write and the guard."""
    if request.tool_call["name"] != os.environ.get("STOP_BEFORE"):
        return await handler(request)
    os.kill(os.getpid(), signal.SIGSTOP)
    try:
        return await handler(request)
    finally:
        Path(os.environ["WENT_ON"]).touch()


def suspended_driver(lab: Lab, *turn: dict[str, Any]) -> Driver:
    return lab.driver(turn, between=[suspend])


SHAPES: dict[str, Callable[[Lab], Driver]] = {
    "free": lambda lab: suspended_driver(lab, call("c1", "read", topic="x")),
    "free_first": lambda lab: suspended_driver(
        lab, call("c1", "read", topic="x"), call("c2", "send_email", to="a")
    ),
    "turn": lambda lab: lab.driver(TURN),
    "per_call": lambda lab: lab.driver(TURN, interrupt_mode="per_call"),
    "nested": nested_driver,
    "node": node_driver,
    "handoff": handoff_driver,
    "choosing": lambda lab: choosing_driver(lab, allow_ignore=True),
    "only_words": choosing_driver,
    "in_tool": in_tool_driver,
    "deep": deep_driver,
    "in_tool_per_call": lambda lab: in_tool_driver(lab, "per_call"),
}


async def main(url: str, home: str, shape: str) -> None:
    folder = Path(home)
    async with (
        Gate.connect(url, policy=POLICY, agent="billing", lease=1.0) as gate,
        AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver,
    ):
        lab = Lab(gate, saver, folder)
        driver = SHAPES[shape](lab)

        async def write_answers(run: Run) -> None:
            (folder / "answers.json").write_text(json.dumps(answers(run)))

        known = await saver.aget({"configurable": {"thread_id": "t-1"}})
        await driver.run(None if known else go(), thread_id="t-1", requester="U0MARIA")
        await driver.serve(write_answers)
