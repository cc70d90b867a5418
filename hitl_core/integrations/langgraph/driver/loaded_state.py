"""A run continues the state that the driver has loaded, and replaces nobody else's.

LangGraph continues a thread from its latest checkpoint, and saves each step without a look at what is there.
If other code wrote a checkpoint since the driver has loaded the thread, LangGraph would continue that: with
the requester, the settings and the claim of the driver's run. If other code wrote one during the run, the
run's next step would replace it, and with it the input of another process.

Two runs that begin at once can both find the loaded state. So a run takes a lock before its first step is
saved: only one run continues a checkpoint. The lock lasts for seconds, because a process that dies leaves it.
If saving took longer and another run has the lock, the run whose step is not the latest one stops.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.types import StateSnapshot

from hitl_core.errors import Refused

Saver = BaseCheckpointSaver[Any]
#: Whether the caller alone, of all processes, may save a step after this checkpoint, within some seconds.
TakeStep = Callable[[str | None], Awaitable[bool]]


class ThreadMoved(Refused):
    """The thread is no longer in the loaded state. Nothing was run."""


class RunReplaced(Refused):
    """The thread went on without this run, whose last step was not saved."""


def hold_to_state(saver: Saver, thread_id: str, state: StateSnapshot, take_step: TakeStep) -> Saver:
    """The same saver for one run of a thread, with two checks. It raises ThreadMoved at the run's first read,
    unless the thread is in this state; and RunReplaced instead of saving a step, unless the thread's latest
    step is the one before, and this run alone continues the state.
    """
    return cast(
        Saver, _HeldSaver(saver, thread_id, _LoadedState(_checkpoint_id(state.config), take_step))
    )


class _HeldSaver:
    """All but the checks is the saver's own, whatever class it has, and whoever replaced its methods."""

    def __init__(self, saver: Saver, thread_id: str, loaded: _LoadedState) -> None:
        self._saver, self._thread_id, self._loaded = saver, thread_id, loaded

    def __getattr__(self, name: str) -> Any:
        return getattr(self._saver, name)

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride] - for isinstance
        return type(self._saver)

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
        if _place(config) != (self._thread_id, ""):  # a graph inside
            return await self._saver.aput(config, checkpoint, metadata, new_versions)
        is_first = not self._loaded.is_continued
        is_alone = await self._loaded.take_first_step()
        if not is_alone or await self._latest_id() != _checkpoint_id(config):
            raise self._replaced()
        saved = await self._saver.aput(config, checkpoint, metadata, new_versions)
        # If this took longer than the lock lasts, another run may have saved its first step meanwhile.
        is_unsure = is_first and not await self._loaded.has_lock()
        if is_unsure and await self._latest_id() != _checkpoint_id(saved):
            raise self._replaced()
        return saved

    async def _latest_id(self) -> str | None:
        thread: RunnableConfig = {
            "configurable": {"thread_id": self._thread_id, "checkpoint_ns": ""}
        }
        latest = await self._saver.aget_tuple(thread)
        return _checkpoint_id(latest and latest.config)

    def _replaced(self) -> RunReplaced:
        return RunReplaced(
            "busy",
            f"Another run of {self._thread_id!r:.80} began meanwhile, or its state was changed. This run was"
            " stopped, and its last step was not saved.",
        )

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Saver:
        """LangGraph's own copy of a saver, which limits the types that it loads."""
        limited = self._saver.with_allowlist(extra_allowlist)
        return cast(Saver, _HeldSaver(limited, self._thread_id, self._loaded))


class _LoadedState:
    """The state that one run continues. `id`: of its checkpoint; None for a new thread."""

    def __init__(self, id: str | None, take_step: TakeStep) -> None:
        self._id, self._take_step = id, take_step
        self._is_read, self.is_continued = False, False

    def finds(self, saved: CheckpointTuple | None) -> bool:
        """Whether the run's first read found this state. Later reads are those of graphs inside."""
        is_found = self._is_read or _checkpoint_id(saved and saved.config) == self._id
        self._is_read = True
        return is_found

    async def take_first_step(self) -> bool:
        """Whether no other run continues this state. Only this run can continue the steps after it."""
        self.is_continued = self.is_continued or await self.has_lock()
        return self.is_continued

    async def has_lock(self) -> bool:
        return await self._take_step(self._id)


def _checkpoint_id(config: RunnableConfig | None) -> str | None:
    return _configurable(config).get("checkpoint_id")


def _place(config: RunnableConfig) -> tuple[str, str]:
    configurable = _configurable(config)
    return str(configurable.get("thread_id")), configurable.get("checkpoint_ns", "")


def _configurable(config: RunnableConfig | None) -> dict[str, Any]:
    return cast(Any, config or {}).get("configurable", {})
