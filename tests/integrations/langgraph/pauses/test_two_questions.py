"""Questions of tools that could get the answer to another one: LangGraph knows them only by their order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph import Driver, Run
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


def paying(lab: Lab, pay: Any) -> Driver:
    """An agent whose only turn calls this tool."""
    agent = create_agent(
        Script(turns=[[call("p-1", "pay", to="a")]]), [pay], checkpointer=lab.saver
    )
    return lab.reviews.drive(agent)


async def approve_question(lab: Lab, driver: Driver) -> Run:
    """Approve the first question. Returns the next stop."""
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    return lab.stops[0]


async def test_an_approval_does_not_reach_a_question_that_has_changed(lab: Lab) -> None:
    """LangGraph starts a tool again with the answer: if it asks something else then, people did not approve
    it."""
    prices, paid = iter([80, 9000]), list[int]()

    @tool
    async def pay(to: str) -> str:
        """Pay the price of today."""
        price = next(prices)
        interrupt(inbox("confirm", {"price": price}))
        paid.append(price)
        return "paid"

    stop = await approve_question(lab, paying(lab, pay))
    assert paid == []
    assert "`pay` asks another question now" in (stop.refusal or "")


async def test_an_approval_reaches_no_other_question_that_the_tool_asks_at_once(lab: Lab) -> None:
    """Given a tool that asks two questions at once, of which the other one comes first after the approval."""
    starts, paid = list[str](), list[str]()

    @tool
    async def pay(to: str) -> str:
        """Pay two people at once, and ask before each."""

        async def pay_one(name: str, turns: int) -> None:
            for _ in range(turns):
                await asyncio.sleep(0)
            interrupt(inbox("confirm", {"to": name}))
            paid.append(name)

        starts.append(to)
        first, second = (0, 5) if len(starts) == 1 else (5, 0)
        await asyncio.gather(pay_one("a", first), pay_one("b", second), return_exceptions=False)
        return "paid"

    stop = await approve_question(lab, paying(lab, pay))
    assert "b" not in paid
    assert "`pay` asks another question now" in (stop.refusal or "")


async def test_the_next_question_of_a_tool_may_be_another_one(lab: Lab) -> None:
    @tool
    async def pay(to: str) -> str:
        """Pay, and ask twice."""
        interrupt(inbox("confirm", {"step": 1}))
        return str(interrupt(inbox("confirm", {"step": 2})))

    stop = await approve_question(lab, paying(lab, pay))
    assert stop.review_id
    assert stop.refusal is None


async def test_an_earlier_question_of_a_tool_must_be_the_same_as_well(lab: Lab) -> None:
    prices, paid = iter([80, 80, 9000]), list[int]()

    @tool
    async def pay(to: str) -> str:
        """Pay the price of today, if two people agree."""
        price = next(prices)
        interrupt(inbox("confirm", {"price": price}))
        interrupt(inbox("confirm", {"to": to}))
        paid.append(price)
        return "paid"

    driver = paying(lab, pay)
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
        second = lab.stops[0].review_id
        await lab.decide(second, "approve")
        await lab.done(second)
    assert paid == []
    assert "`pay` asks another question now" in (lab.stops[1].refusal or "")
