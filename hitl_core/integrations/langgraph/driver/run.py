"""A run of a thread: the `config` and `context` that it gets, and where it stopped."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias, cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs, var_child_runnable_config
from langgraph.types import Interrupt, StateSnapshot

from hitl_core.errors import HitlError, IntegrationError, Refused
from hitl_core.integrations.langgraph.graph import Json

log = logging.getLogger(__name__)

#: Saved with every checkpoint: the names of the settings that the caller passed to the run, and the run's id.
SETTINGS_KEY = "hitl_own_settings"
RUN_KEY = "hitl_run"
#: Also saved: the name of the driven graph.
GRAPH_KEY = "hitl_graph"

#: Keys of a config that name one checkpoint of a thread.
_CHECKPOINT_KEYS = ("checkpoint_id", "checkpoint_ns", "checkpoint_map")

#: A process remembers the settings of this many open runs.
MAX_RUNS = 10_000

Config: TypeAlias = RunnableConfig | Callable[[str], RunnableConfig] | None


@dataclass(frozen=True, slots=True)
class Run:
    """Where a run stopped. `state` holds the graph's values. Exactly one of the others is set:

    - `finished`: the graph ended;
    - `review_ids`: the run waits for people, mostly for one review; for several if parallel nodes paused;
    - `unknown`: it waits at interrupts that are not reviews; you answer them;
    - `refusal`: an error text: its question can't be reviewed, or can't be answered. The run stays paused.
    """

    thread_id: str
    state: Mapping[str, Any]
    finished: bool
    review_ids: tuple[str, ...] = ()
    unknown: tuple[Interrupt, ...] = ()
    refusal: str | None = None

    @classmethod
    def stopped_by(cls, thread_id: str, state: StateSnapshot, error: HitlError) -> Self:
        """The run stays at this state, because of the error."""
        log.error("The thread %r can't go on: %s", thread_id, error)
        return cls(thread_id, state.values, finished=False, refusal=str(error))

    @property
    def review_id(self) -> str | None:
        """The review that the run waits for."""
        return self.review_ids[0] if self.review_ids else None


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings that the caller passed to one run; None if not passed. `run_id`: of the run that began
    with them. Raises IntegrationError for a config of one checkpoint: the run goes on to later ones, and its
    pauses would be looked for at that one.
    """

    config: RunnableConfig | None = None
    context: Any = None
    run_id: str = field(default_factory=lambda: uuid4().hex)

    def __post_init__(self) -> None:
        configurable = _configurable(self.config)
        if fixed := [key for key in _CHECKPOINT_KEYS if configurable.get(key)]:
            raise IntegrationError(
                f"A run's `config` can't have `{fixed[0]}`. To continue from an earlier checkpoint, start the"
                " thread again from there (`await agent.aupdate_state(checkpoint.config, None)`), then call"
                " run(None)."
            )

    @property
    def names(self) -> list[str]:
        """The names of the settings that were passed."""
        return [name for name in ("config", "context") if getattr(self, name) is not None]


def check_outside_of_runs() -> None:
    """Raises IntegrationError in a tool or a node of another run."""
    around = _configurable(var_child_runnable_config.get())
    if any(around.get(key) for key in _CHECKPOINT_KEYS):
        raise inside_run_error()


def inside_run_error() -> IntegrationError:
    return IntegrationError(
        "The driver was called inside of another run, and would use its checkpoints, or wait for that run"
        " without end. Call it in a context of its own, and don't wait for it there if it is a run of the"
        " same thread: `asyncio.create_task(driver.run(…), context=contextvars.Context())`."
    )


def _configurable(config: RunnableConfig | None) -> Json:
    return cast(Json, config or {}).get("configurable") or {}


class Settings:
    """The settings of `drive`, and those of each open run of this process. They belong to a run, not to its
    thread: another process may have begun a new run of that thread.
    """

    def __init__(self, *, graph_name: str, config: Config, context: Any) -> None:
        self._graph_name, self._config, self._context = graph_name, config, context
        if isinstance(config, dict):
            RunSettings(cast(RunnableConfig, config))  # raises for a config that no run can have
        self._by_run: dict[str, RunSettings] = {}

    async def default(self, thread_id: str) -> RunSettings:
        """The settings of `drive` for this thread."""
        config = cast(RunnableConfig, await _value_for(self._config, thread_id) or {})
        return RunSettings(config, await _value_for(self._context, thread_id))

    def begin(self, run_settings: RunSettings) -> None:
        """Remember the settings of a run, in place of those that it had."""
        self.end(run_settings.run_id)
        if run_settings.names:
            self._by_run[run_settings.run_id] = run_settings
        while len(self._by_run) > MAX_RUNS:  # other processes may have ended these
            del self._by_run[next(iter(self._by_run))]

    def end(self, run_id: str) -> None:
        """Forget the settings of an ended run."""
        self._by_run.pop(run_id, None)

    def end_replaced(self, thread_id: str, state: StateSnapshot, new: RunSettings) -> None:
        """Forget the settings of the run that was at this state, if `new` began another one."""
        if (run_id := _read_run_id(thread_id, state)) != new.run_id:
            self.end(run_id)

    def for_run(
        self, thread_id: str, state: StateSnapshot, new: RunSettings | None = None
    ) -> RunSettings:
        """The settings with which the thread's run was started, overridden by `new`. Raises IntegrationError
        if another process started the run with settings that this process doesn't have, or with another
        agent: the tools of this one are not those for which people approved.
        """
        metadata = cast(Json, state.metadata or {})
        if (began := metadata.get(GRAPH_KEY, self._graph_name)) != self._graph_name:
            raise IntegrationError(
                f"The agent {began!r:.80} began the run of {thread_id!r:.80}, and this process drives"
                f" {self._graph_name!r:.80}. Open a gate with another `agent` for each of them. If the agent"
                " was renamed, give it its former name until its open runs have ended."
            )
        new = new or RunSettings()
        run_id = _read_run_id(thread_id, state)
        own = replace(_override(self._by_run.get(run_id, RunSettings()), new), run_id=run_id)
        marked = str(metadata.get(SETTINGS_KEY) or "")
        for name in marked.split():
            if name not in own.names and not callable(getattr(self, f"_{name}")):
                raise IntegrationError(
                    f"Another process started the run of {thread_id!r} with its own `{name}`, so it can't be"
                    f" resumed here. Give `drive` a function that makes the `{name}` from the thread's id."
                )
        return own


def check_same_run(thread_id: str, state: StateSnapshot, run_settings: RunSettings) -> None:
    """Raises Refused if this is the state of another run, which another process began meanwhile: this run's
    requester did not ask for its calls.
    """
    if _read_run_id(thread_id, state) != run_settings.run_id:
        raise Refused("busy", f"Another process began a new run of {thread_id!r} at the same time.")


def _read_run_id(thread_id: str, state: StateSnapshot) -> str:
    """The id of the thread's last run; the thread's id if it has none."""
    return str(cast(Json, state.metadata or {}).get(RUN_KEY) or thread_id)


def _override(own: RunSettings, new: RunSettings) -> RunSettings:
    config = own.config if new.config is None else new.config
    return RunSettings(config, own.context if new.context is None else new.context)


def merge_settings(default: RunSettings, own: RunSettings) -> RunSettings:
    """The settings of `drive`, overridden by those of the run. Pure."""
    return replace(_override(default, own), config=merge_configs(default.config, own.config))


async def _value_for(value: Any, thread_id: str) -> Any:
    if isinstance(value, dict) or not callable(value):
        return cast(Any, value)
    result = value(thread_id)
    return await result if inspect.isawaitable(result) else result
