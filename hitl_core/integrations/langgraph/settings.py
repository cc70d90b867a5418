"""The `config` and `context` of a thread's runs. What one thread got never reaches another."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.types import StateSnapshot

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph.graph import Json

#: Kept with every checkpoint: which settings the run was given by its caller, so that only these resume it.
OWN = "hitl_own_settings"

#: How many open runs' settings a process remembers.
KEPT = 10_000

Config: TypeAlias = RunnableConfig | Callable[[str], RunnableConfig] | None


@dataclass(frozen=True, slots=True)
class Own:
    """What the caller gave to one run; None where nothing was said."""

    config: RunnableConfig | None = None
    context: Any = None

    @property
    def names(self) -> list[str]:
        """Of those that are given."""
        return [name for name in ("config", "context") if getattr(self, name) is not None]


class Settings:
    """Those of `drive`, and those that each open run of this process was given."""

    def __init__(self, *, config: Config, context: Any) -> None:
        self._config, self._context = config, context
        self._own: dict[str, Own] = {}

    async def default(self, thread_id: str) -> Own:
        """What `drive` was given, for this thread."""
        config = cast(RunnableConfig, await _for(self._config, thread_id) or {})
        return Own(config, await _for(self._context, thread_id))

    def begin(self, thread_id: str, own: Own) -> None:
        """What a run is given, in place of what an earlier one was."""
        self._own.pop(thread_id, None)
        if own.names:
            self._own[thread_id] = own
        while len(self._own) > KEPT:  # other processes may have ended these
            del self._own[next(iter(self._own))]

    def end(self, thread_id: str) -> None:
        """The run is through."""
        self._own.pop(thread_id, None)

    def own(self, thread_id: str, state: StateSnapshot, given: Own | None = None) -> Own:
        """To go on with a run as it began, but for what is given now. Raises IntegrationError where it began
        with something that this process can't know."""
        own = _over(self._own.get(thread_id, Own()), given or Own())
        marked = str(cast(Json, state.metadata or {}).get(OWN) or "")
        for name in marked.split():
            if name not in own.names and not callable(getattr(self, f"_{name}")):
                raise IntegrationError(
                    f"Another process gave the run of {thread_id!r} a `{name}` of its own, so it can't be"
                    f" resumed here: give `drive` a function that makes the `{name}` of a thread from its id."
                )
        return own


def _over(own: Own, given: Own) -> Own:
    config = own.config if given.config is None else given.config
    return Own(config, own.context if given.context is None else given.context)


def combined(default: Own, own: Own) -> Own:
    """The run's own over those of `drive`. Pure."""
    return replace(_over(default, own), config=merge_configs(default.config, own.config))


async def _for(value: Any, thread_id: str) -> Any:
    if isinstance(value, dict) or not callable(value):
        return cast(Any, value)
    made = value(thread_id)
    return await made if inspect.isawaitable(made) else made
