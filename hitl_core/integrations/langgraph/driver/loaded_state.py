"""A run continues the state that the driver has loaded, and replaces nobody else's.

Only one driver runs a thread at a time (`thread_locks`). But other code can run the graph itself or change
its state, and a process that was suspended for long can have lost its lock. LangGraph continues a thread from
its latest checkpoint, and saves each step without a look at what is there. If somebody wrote a checkpoint
since the driver has loaded the thread, LangGraph would continue that: with the requester, the settings and
the claim of the driver's run. If somebody wrote one during the run, the run's next step would replace it, and
with it the input of another process.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.types import StateSnapshot

from hitl_core.errors import Refused
from hitl_core.integrations.langgraph.driver.wrapped_saver import Saver, WrappedSaver


class ThreadMoved(Refused):
    """The thread is no longer in the loaded state. Nothing was run."""


class RunReplaced(Refused):
    """The thread went on without this run, whose last step was not saved."""


def hold_to_state(saver: Saver, thread_id: str, state: StateSnapshot) -> Saver:
    """The same saver for one run of a thread, with two checks. It raises ThreadMoved at the run's first read,
    unless the thread is in this state; and RunReplaced instead of saving a step, unless the thread's latest
    step is the one before.
    """
    return cast(Saver, _HeldSaver(saver, thread_id, _LoadedState(_checkpoint_id(state.config))))


class _HeldSaver(WrappedSaver):
    def __init__(self, saver: Saver, thread_id: str, loaded: _LoadedState) -> None:
        super().__init__(saver)
        self._thread_id, self._loaded = thread_id, loaded

    def wrap(self, saver: Saver) -> _HeldSaver:
        return _HeldSaver(saver, self._thread_id, self._loaded)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        saved = await self._saver.aget_tuple(config)
        if not self._loaded.finds(saved):
            raise ThreadMoved(
                "busy", f"Another run of {self._thread_id!r:.80} began at the same time."
            )
        return saved

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        is_ours = _place(config) == (self._thread_id, "")  # not that of a graph inside
        if is_ours and await self._latest_id() != _checkpoint_id(config):
            raise RunReplaced(
                "busy",
                f"Another run of {self._thread_id!r:.80} began meanwhile, or its state was changed. This run"
                " was stopped, and its last step was not saved.",
            )
        return await self._saver.aput(config, checkpoint, metadata, new_versions)

    async def _latest_id(self) -> str | None:
        thread: RunnableConfig = {
            "configurable": {"thread_id": self._thread_id, "checkpoint_ns": ""}
        }
        latest = await self._saver.aget_tuple(thread)
        return _checkpoint_id(latest and latest.config)


class _LoadedState:
    """The state that one run continues. `id`: of its checkpoint; None for a new thread."""

    def __init__(self, id: str | None) -> None:
        self._id, self._is_read = id, False

    def finds(self, saved: CheckpointTuple | None) -> bool:
        """Whether the run's first read found this state. Later reads are those of graphs inside."""
        is_found = self._is_read or _checkpoint_id(saved and saved.config) == self._id
        self._is_read = True
        return is_found


def _checkpoint_id(config: RunnableConfig | None) -> str | None:
    return _configurable(config).get("checkpoint_id")


def _place(config: RunnableConfig) -> tuple[str, str]:
    configurable = _configurable(config)
    return str(configurable.get("thread_id")), configurable.get("checkpoint_ns", "")


def _configurable(config: RunnableConfig | None) -> dict[str, Any]:
    return cast(Any, config or {}).get("configurable", {})
