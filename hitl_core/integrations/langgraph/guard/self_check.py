"""Tries the guard's checks with the installed LangGraph, before an agent is guarded.

Two checks read local variables of LangGraph's functions (`read_start`, and the counter of questions), because
it has no public way. A version with other names would switch them off, and nobody would see it.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, cast
from uuid import uuid4

import langsmith
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import (  # pyright: ignore[reportMissingTypeStubs] - typed, but not marked
    START,
    StateGraph,
)
from langgraph.types import Interrupt, interrupt

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph.graph import Json
from hitl_core.integrations.langgraph.guard.lost_pauses import StartedGraph, read_start
from hitl_core.integrations.langgraph.guard.questions import Questions, check_questions

_ASKED, _KNOWN = "asked now", "known to people"


@functools.cache
def check_langgraph() -> None:
    """Raises IntegrationError if the checks don't work with this LangGraph. Once they do, it is not tried
    again.
    """
    with ThreadPoolExecutor(1) as thread:  # it has no context and no event loop
        try:
            works = thread.submit(_try_checks).result()
        except Exception as error:
            raise IntegrationError(_problem()) from error
    if not works:
        raise IntegrationError(_problem())


def _problem() -> str:
    return (
        f"The guard can't check the questions of agents with LangGraph {version('langgraph')}, because the"
        " parts of LangGraph that it reads have changed. Install an earlier version of LangGraph, or a later"
        " one of hitl-core."
    )


def _try_checks() -> bool:
    with cast(Any, langsmith).tracing_context(enabled=False):
        return _works(is_async=False) and _works(is_async=True)


def _works(*, is_async: bool) -> bool:
    """Whether a question that people don't know is replaced by the known one, and each graph is seen."""
    graph, thread = _make_graph(is_async), str(uuid4())

    def run(input: Any, known: Questions) -> tuple[list[StartedGraph], Interrupt]:
        starts = _Starts(known)
        config: RunnableConfig = {"configurable": {"thread_id": thread}, "callbacks": [starts]}
        if is_async:
            asyncio.run(graph.ainvoke(input, config))
        else:
            graph.invoke(input, config)
        return starts.graphs, graph.get_state(config).tasks[0].interrupts[0]

    _, asked = run({}, Questions())
    graphs, shown = run(None, Questions({asked.id: Interrupt(_KNOWN, id=asked.id)}))
    outer, inner = graphs
    are_saved = not (outer.is_unsaved or inner.is_unsaved)
    return (asked.value, shown.value) == (_ASKED, _KNOWN) and are_saved and inner.task is not None


def _make_graph(is_async: bool) -> Any:
    """A graph with a node that runs another graph, which asks."""

    def ask(state: Json) -> Json:
        interrupt(_ASKED)
        return {}

    async def ask_async(state: Json) -> Json:
        return ask(state)

    inner = _graph_of(ask_async if is_async else ask).compile()

    def run_inner(state: Json) -> Json:
        return inner.invoke({})

    async def run_inner_async(state: Json) -> Json:
        return await inner.ainvoke({})

    outer = _graph_of(run_inner_async if is_async else run_inner)
    return outer.compile(checkpointer=InMemorySaver())


def _graph_of(node: Any) -> Any:
    graph: Any = StateGraph(cast(Any, dict))
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return graph


class _Starts(BaseCallbackHandler):
    """Lets the counter check the questions, as the watch does, and keeps the graphs that start."""

    raise_error = True
    run_inline = True

    def __init__(self, known: Questions) -> None:
        self._known, self.graphs = known, list[StartedGraph]()

    def on_chain_start(self, serialized: Json | None, inputs: Any, **kwargs: Any) -> None:
        start = read_start(sys._getframe())  # pyright: ignore[reportPrivateUsage]
        check_questions(start.config, self._known)
        if start.graph is not None:
            self.graphs.append(start.graph)
