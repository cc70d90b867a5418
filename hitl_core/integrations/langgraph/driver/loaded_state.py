"""A run continues the state that the driver has loaded, or none.

LangGraph continues a thread from its latest checkpoint. If other code wrote one since the driver has loaded
the thread, LangGraph would continue that: with the requester, the settings and the claim of the driver's run.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import StateSnapshot

from hitl_core.errors import Refused

Saver = BaseCheckpointSaver[Any]


class ThreadMoved(Refused):
    """The thread is no longer in the loaded state. Nothing was run."""


def hold_to_state(saver: Saver, state: StateSnapshot) -> Saver:
    """The same saver, with all its attributes, for one run: it raises ThreadMoved as the run begins, unless
    the thread is in this state.
    """
    kind = _add_check(type(saver))
    held = object.__new__(kind)
    held.__dict__ = saver.__dict__
    cast(Any, held).first_read = _FirstRead(_checkpoint_id(state.config))
    return held


class _FirstRead:
    """`expected`: the id of the checkpoint that the first read must find; None for a new thread. Later reads
    are those of graphs inside.
    """

    def __init__(self, expected: str | None) -> None:
        self._expected, self._is_done = expected, False

    def check(self, config: RunnableConfig, saved: CheckpointTuple | None) -> None:
        if not self._is_done and _checkpoint_id(saved and saved.config) != self._expected:
            thread_id = cast(Any, config)["configurable"]["thread_id"]
            raise ThreadMoved("busy", f"Another run of {thread_id!r:.80} began at the same time.")
        self._is_done = True


@cache
def _add_check(kind: type[Saver]) -> type[Saver]:
    class HeldSaver(kind):
        __slots__ = ("first_read",)  # not among the attributes, which it shares
        first_read: _FirstRead

        async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
            saved = await super().aget_tuple(config)
            self.first_read.check(config, saved)
            return saved

        def __del__(self) -> None:
            """Closes nothing: the saver itself lives on."""

    return HeldSaver


def _checkpoint_id(config: RunnableConfig | None) -> str | None:
    return cast(Any, config or {}).get("configurable", {}).get("checkpoint_id")
