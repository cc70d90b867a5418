"""The integration contract, run on a real LangGraph agent, in both modes of LangChain's middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool as langchain_tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from hitl_core.gate import Gate
from hitl_core.integrations.langgraph import HumanReview, Run
from tests.integrations.agents import Script, call, go, running
from tests.integrations.contract import IntegrationContract
from tests.integrations.world import (
    AGENT,
    ASKED,
    POLICY,
    REQUESTER,
    THREAD,
    Answer,
    Turn,
    World,
)
from tests.support.waiting import wait_until


class LangGraphWorld(World):
    """The saver is what outlives a process."""

    def __init__(self, redis_url: str, saver: AsyncSqliteSaver, mode: Any) -> None:
        super().__init__()
        self._redis_url, self._saver, self._mode = redis_url, saver, mode
        self._processes = AsyncExitStack()
        self._ended: list[Run] = []

    async def start(self, *turns: Turn) -> None:
        self._turns = turns
        driver = await self._drive()
        await self._note(await driver.run(go(), thread_id=THREAD, requester=REQUESTER))

    async def start_again(self) -> None:
        await self._drive()

    async def _drive(self) -> Any:
        turns = [[call(each.id, each.name, **each.args) for each in turn] for turn in self._turns]
        agent = create_agent(
            Script(turns=turns),
            [langchain_tool(each) for each in self.tools.values()],
            middleware=[
                HumanInTheLoopMiddleware(dict.fromkeys(ASKED, True), interrupt_mode=self._mode)
            ],
            checkpointer=self._saver,
        )
        driver = HumanReview(await self._connect()).drive(agent)
        await self._processes.enter_async_context(running(driver.serve(self._note)))
        return driver

    async def _connect(self) -> Gate:
        connection = Gate.connect(self._redis_url, policy=POLICY, agent=AGENT, lease=1.0)
        return await self._processes.enter_async_context(connection)

    async def _note(self, run: Run) -> None:
        assert run.refusal is None
        if run.finished:
            self._ended.append(run)

    async def end_processes(self) -> None:
        await self._processes.aclose()
        self._processes = AsyncExitStack()

    async def answers(self) -> Mapping[str, Answer]:
        [run] = await wait_until("the run ends", lambda: self._ended)
        messages = [each for each in run.state["messages"] if isinstance(each, ToolMessage)]
        return {each.tool_call_id: Answer(each.text, each.status == "error") for each in messages}

    async def run_unguardable(self) -> None:
        graph = StateGraph(MessagesState)
        graph.add_node("act", OwnToolNode([langchain_tool(each) for each in self.tools.values()]))
        graph.add_edge(START, "act")
        agent = graph.compile(checkpointer=self._saver)
        driver = HumanReview(await self._connect()).drive(agent)
        asked = AIMessage("", tool_calls=[call("c1", "send_email", to="a")])
        await driver.run({"messages": [asked]}, thread_id=THREAD)


class OwnToolNode(ToolNode):
    """It runs its tools in a way of its own."""

    async def _arun_one(self, call: Any, input_type: Any, tool_runtime: Any) -> Any:
        return await self.tools_by_name[call["name"]].ainvoke(call)


class _LangGraphContract(IntegrationContract):
    mode: str

    @pytest.fixture
    async def world(self, redis_url: str, saver: AsyncSqliteSaver) -> AsyncIterator[LangGraphWorld]:
        world = LangGraphWorld(redis_url, saver, self.mode)
        yield world
        await world.end_processes()


class TestLangGraphContract(_LangGraphContract):
    mode = "batched"


class TestLangGraphPerCallContract(_LangGraphContract):
    mode = "per_call"
