"""A ToolNode that runs all calls of a message in one task, in which calls ask questions of their own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph import Driver
from tests.integrations.agents import Lab, Script, answers, call, go
from tests.integrations.langgraph.pauses.test_own_questions import inbox


class Payments:
    """A graph whose only model turn pays these people in one task; those in `asking` only after a question.
    If `late` is given, only that one asks when the task starts first, and it is the last to ask later.
    """

    def __init__(self, *recipients: str, asking: str, late: str = "") -> None:
        self._recipients, self._asking, self._late = recipients, asking, late
        self._starts = dict.fromkeys(recipients, 0)
        self._others_asked, self.is_over = asyncio.Event(), asyncio.Event()
        self.paid: list[str] = []

    def driver(self, lab: Lab) -> Driver:
        @tool
        async def pay(to: str) -> str:
            """Pay, and ask before it."""
            answer = await self._ask(to) if to in self._asking else None
            self.paid.append(to)
            return f"paid {to}: {answer}"

        calls = [call(f"p-{to}", "pay", to=to) for to in self._recipients]
        model = Script(turns=[calls])

        async def ask_model(state: MessagesState) -> Any:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", ask_model)
        graph.add_node("tools", ToolNode([pay]))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        return lab.reviews.drive(graph.compile(checkpointer=lab.saver))

    async def _ask(self, to: str) -> Any:
        self._starts[to] += 1
        if self._late and self._starts[to] == 1 and to != self._late:
            await self.is_over.wait()
        if self._starts[to] > 1 and to == self._late:
            await self._others_asked.wait()
        try:
            return interrupt(inbox("confirm", {"to": to}))
        finally:
            if to != self._late:
                self._others_asked.set()


async def test_one_call_may_ask_beside_others(lab: Lab) -> None:
    payments = Payments("a", "b", asking="b")
    driver = payments.driver(lab)
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert payments.paid.count("b") == 1
    assert answers(lab.stops[0])["p-b"][1].startswith("paid b: [{'type': 'accept'")


async def test_two_calls_that_ask_in_one_task_are_refused_before_anybody_is_asked(lab: Lab) -> None:
    payments = Payments("a", "b", asking="ab")
    with pytest.raises(IntegrationError, match="Send each call to its ToolNode alone"):
        await payments.driver(lab).run(go(), thread_id="t-1")
    assert (payments.paid, await lab.all_reviews("t-1")) == ([], [])


async def test_an_answer_reaches_no_other_call_than_the_one_that_asked(lab: Lab) -> None:
    """Given two calls of one task of which only the first has asked when the run stops, when people approve
    it and the second one asks earlier than the first, then neither runs."""
    payments = Payments("a", "b", asking="ab", late="a")
    driver = payments.driver(lab)
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    payments.is_over.set()
    assert payments.paid == []
    assert "Send each call" in (lab.stops[0].refusal or "")
