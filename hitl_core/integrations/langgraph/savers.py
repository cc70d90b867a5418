"""Whether a graph that starts saves its pauses."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType
from typing import Any, cast

from langchain_core.callbacks import manager as langchain_callbacks
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs] - typed, but not marked

_SAVER_KEY = "__pregel_checkpointer"


def is_unsaved_graph(callback: FrameType) -> bool:
    """Whether this callback reports the start of a graph whose pauses no checkpointer saves: neither its own,
    nor the one that the graph around it or the caller hands over.

    LangGraph tells its callbacks only the thread, which a graph without a checkpointer may have too. A copy
    of a graph keeps its callbacks and may have another checkpointer. So the caller's frame is read.
    """
    caller = callback.f_back
    while caller is not None and caller.f_globals.get("__name__") == langchain_callbacks.__name__:
        caller = caller.f_back
    values = cast("Mapping[str, Any]", caller.f_locals if caller is not None else {})
    graph, config = values.get("self"), values.get("config")
    if not isinstance(graph, Pregel):
        return False
    handed_over = cast("dict[str, Any]", config or {}).get("configurable", {})
    saver = handed_over.get(_SAVER_KEY, cast(Any, graph).checkpointer)
    return not isinstance(saver, BaseCheckpointSaver)
