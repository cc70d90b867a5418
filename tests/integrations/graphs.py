"""Graphs in which a node itself interrupts."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from hitl_core.integrations.langgraph import Driver
from tests.integrations.agents import Lab


class State(TypedDict):
    out: Annotated[list[Any], operator.add]


def asking(lab: Lab, *values: Any) -> Driver:
    """A node for each value, side by side: each interrupts with it and keeps the answer."""

    def node(value: Any) -> Any:
        return lambda state: {"out": [interrupt(value)]}

    graph = StateGraph(State)
    for number, value in enumerate(values):
        graph.add_node(f"n{number}", node(value))
        graph.add_edge(START, f"n{number}")
    return lab.reviews.drive(graph.compile(checkpointer=lab.saver))


async def run_and_answer(lab: Lab, value: Any, *decisions: Any) -> Any:
    """What the node got."""
    drives = asking(lab, value)
    async with lab.serving(drives):
        paused = await drives.run({"out": []}, thread_id="t-1", requester="U0MARIA")
        await lab.decide(paused.review_id, *decisions)
        await lab.done(paused.review_id)
    assert lab.stops[0].finished
    return lab.stops[0].state["out"][0]
