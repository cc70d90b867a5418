"""A question of a node that changes between the pause and the resume: LangGraph runs the node again with the
answer, and gives the answer to what it asks now."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy, Send, interrupt

from hitl_core.integrations.langgraph import Run
from hitl_core.model import Review
from tests.integrations.agents import Lab, call, go
from tests.integrations.graphs import State
from tests.integrations.langgraph.pauses.test_own_questions import inbox


class Till:
    """Pays the price that it asks about. Each question takes the next of these prices."""

    def __init__(self, *prices: Any) -> None:
        self._prices: Iterator[Any] = iter(prices)
        self.paid: list[Any] = []

    def ask(self) -> Any:
        price = next(self._prices)
        [answer] = interrupt(inbox("pay", {"price": price}))
        return price if answer["type"] == "accept" else None

    def pay(self, state: Any) -> Any:
        self.paid.append(self.ask())
        return {}

    async def pay_async(self, state: Any) -> Any:
        return self.pay(state)

    def pay_twice(self, state: Any) -> Any:
        self.paid.extend([self.ask(), self.ask()])
        return {}

    def pay_three_times(self, state: Any) -> Any:
        self.paid.extend([self.ask(), self.ask(), self.ask()])
        return {}


def graph_of(node: Any, then: Any = None) -> StateGraph[Any, Any, Any, Any]:
    graph = StateGraph(State)
    graph.add_node("pay", node)
    graph.add_edge(START, "pay")
    if then is not None:
        graph.add_node("then", then)
        graph.add_edge("pay", "then")
    return graph


async def approve_all(lab: Lab, graph: Any) -> tuple[list[Review], Run]:
    """Approve what is asked, one review after the other. Returns the reviews, and the last stop."""
    driver, reviews = lab.reviews.drive(graph.compile(checkpointer=lab.saver)), list[Review]()
    async with lab.serving(driver):
        waiting = list((await driver.run({"out": []}, thread_id="t-1")).review_ids)
        while waiting:
            await lab.decide(waiting[0], "approve")
            reviews.append(await lab.done(waiting.pop(0)))
            new = [*waiting, *lab.stops[-1].review_ids]
            waiting = [id for id in dict.fromkeys(new) if id not in {r.id for r in reviews}]
    return reviews, lab.stops[-1]


def check_stopped(review: Review, stop: Run) -> None:
    assert "`pay` asks another question now" in (stop.refusal or "")
    assert "raised" not in (stop.refusal or "")
    assert review.runs["1"].line == (
        "not executed: the question changed between the pause and the resume"
    )


@pytest.mark.parametrize("kind", ["pay", "pay_async"])
async def test_an_approval_does_not_reach_a_question_of_a_node_that_has_changed(
    lab: Lab, kind: str
) -> None:
    till, after = Till(80, 9000), list[str]()
    graph = graph_of(getattr(till, kind), then=lambda state: after.append("ran"))
    [review], stop = await approve_all(lab, graph)
    assert (till.paid, after) == ([], [])
    check_stopped(review, stop)


@pytest.mark.parametrize("kind", ["pay", "pay_async"])
async def test_a_node_that_asks_the_same_question_again_gets_its_answer(
    lab: Lab, kind: str
) -> None:
    till = Till(80, 80)
    _, stop = await approve_all(lab, graph_of(getattr(till, kind)))
    assert (till.paid, stop.finished) == ([80], True)


async def test_a_tuple_in_a_question_is_no_change(lab: Lab) -> None:
    """LangGraph saves it as a list."""
    till = Till((1, 2), (1, 2))
    _, stop = await approve_all(lab, graph_of(till.pay))
    assert stop.finished
    assert till.paid == [(1, 2)]


async def test_the_second_question_of_a_node_must_be_the_same_as_well(lab: Lab) -> None:
    till = Till(80, 80, 7, 80, 9000)
    [_, review], stop = await approve_all(lab, graph_of(till.pay_twice))
    assert till.paid == []
    check_stopped(review, stop)


#: The prices of a node that asks twice, and whose first price changes before it gets the second answer.
FIRST_CHANGES = (80, 80, 7, 9000, 7)


async def test_an_earlier_question_of_a_node_must_be_the_same_as_well(lab: Lab) -> None:
    """LangGraph saves only the last one."""
    till = Till(*FIRST_CHANGES)
    [_, review], stop = await approve_all(lab, graph_of(till.pay_twice))
    assert till.paid == []
    check_stopped(review, stop)


@pytest.mark.parametrize("changed", range(3))
async def test_each_of_three_questions_must_be_the_same(lab: Lab, changed: int) -> None:
    last = [1, 2, 3]
    last[changed] = 9000
    till = Till(1, 1, 2, 1, 2, 3, *last)
    [_, _, review], stop = await approve_all(lab, graph_of(till.pay_three_times))
    assert till.paid == []
    check_stopped(review, stop)


@pytest.mark.parametrize("is_sync", [False, True])
async def test_an_earlier_question_of_a_graph_that_a_node_runs_must_be_the_same(
    lab: Lab, is_sync: bool
) -> None:
    till = Till(*FIRST_CHANGES)
    inner = graph_of(till.pay_twice).compile()

    async def run_inner(state: Any) -> Any:
        return await inner.ainvoke({"out": []})

    def run_inner_sync(state: Any) -> Any:
        return inner.invoke({"out": []})

    [_, review], stop = await approve_all(lab, graph_of(run_inner_sync if is_sync else run_inner))
    assert till.paid == []
    check_stopped(review, stop)


async def test_a_node_that_is_tried_again_after_another_question_gets_no_answer(lab: Lab) -> None:
    """The card says that it was not executed."""
    till, graph = Till(80, 9000, 80, 80), StateGraph(State)
    graph.add_node("pay", till.pay, retry_policy=RetryPolicy(initial_interval=0))
    graph.add_edge(START, "pay")
    [review], stop = await approve_all(lab, graph)
    assert till.paid == []
    check_stopped(review, stop)


async def test_a_node_may_ask_two_questions(lab: Lab) -> None:
    till = Till(80, 80, 7, 80, 7)
    _, stop = await approve_all(lab, graph_of(till.pay_twice))
    assert (till.paid, stop.finished) == ([80, 7], True)


async def test_a_node_may_ask_three_questions(lab: Lab) -> None:
    till = Till(1, 1, 2, 1, 2, 3, 1, 2, 3)
    _, stop = await approve_all(lab, graph_of(till.pay_three_times))
    assert (till.paid, stop.finished) == ([1, 2, 3], True)


async def test_a_node_of_a_graph_inside_is_checked_as_well(lab: Lab) -> None:
    till = Till(80, 9000)
    outer = StateGraph(State)
    outer.add_node("inner", graph_of(till.pay).compile())
    outer.add_edge(START, "inner")
    [review], stop = await approve_all(lab, outer)
    assert till.paid == []
    check_stopped(review, stop)


def side_by_side(*tills: Till) -> StateGraph[Any, Any, Any, Any]:
    """One node, sent out once for each of these."""
    graph = StateGraph(State)

    def pay(state: Any) -> Any:
        return tills[state].pay(state)

    graph.add_node("pay", pay)
    graph.add_conditional_edges(START, lambda _: [Send("pay", n) for n in range(len(tills))])
    return graph


async def test_nodes_side_by_side_get_the_answers_to_their_own_questions(lab: Lab) -> None:
    tills = Till(1, 1, 1), Till(2, 2, 2)
    _, stop = await approve_all(lab, side_by_side(*tills))
    assert ([till.paid for till in tills], stop.finished) == ([[1], [2]], True)


async def test_a_question_that_changes_while_another_one_is_answered_is_still_the_one_on_the_card(
    lab: Lab,
) -> None:
    """Given two nodes side by side, LangGraph starts both when one is answered. If the other one asks
    something else then, people still see its first question, and their answer is to that one."""
    tills = Till(1, 1, 1), Till(2, 9000, 9000)
    reviews, stop = await approve_all(lab, side_by_side(*tills))
    assert [till.paid for till in tills] == [[1], []]
    check_stopped(reviews[-1], stop)


async def test_a_node_that_catches_the_error_is_reported(lab: Lab) -> None:
    """It did not get the answer, so the card must not say that it was handed over."""
    till = Till(80, 9000)

    def pay(state: Any) -> Any:
        try:
            return till.pay(state)
        except ValueError:
            raise
        except Exception as error:
            if "GraphInterrupt" in type(error).__name__:
                raise
            return {}

    [review], stop = await approve_all(lab, graph_of(pay))
    assert till.paid == []
    check_stopped(review, stop)


@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_a_description_of_langchain_may_change(lab: Lab, mode: str) -> None:
    """The guard compares the call itself with what people approved."""
    numbers = itertools.count()
    rule: Any = {
        "allowed_decisions": ["approve", "reject"],
        "description": lambda *_: f"number {next(numbers)}",
    }
    turn = [call("e-1", "send_email", to="a")]
    driver = lab.driver(turn, asking={"send_email": rule}, interrupt_mode=mode)
    async with lab.serving(driver):
        run = await driver.run(go(), thread_id="t-1")
        await lab.decide(run.review_id, "approve")
        await lab.done(run.review_id)
    assert lab.stops[-1].finished
    assert lab.effects == ["sent a"]
