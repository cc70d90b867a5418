"""The second check, behind the guard: stops a tool that neither the guard nor the policy allowed.

LangChain calls its callbacks before each tool starts. That includes a tool node that was made during the run,
`tool.invoke` in a node's own code, and a middleware that swaps tools. A callback that raises stops the tool.
Each guarded graph has a watch in its config, which LangGraph keeps in `with_config` and in copies; a driven
run has its own watch. LangChain finds the watch through the context, so it also works when code passes its
own callbacks. It does not see a thread that is started without the context (`run_in_executor`).
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
from collections.abc import Callable, Generator, Sequence
from contextvars import ContextVar
from typing import Any, NoReturn, cast
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.runnables.config import merge_configs, var_child_runnable_config
from langchain_core.tracers.context import register_configure_hook
from langgraph.errors import GraphInterrupt

from hitl_core.errors import HitlError
from hitl_core.integrations.langgraph.graph import Graph, Json
from hitl_core.integrations.langgraph.guard.active_runs import current_ticket
from hitl_core.integrations.langgraph.guard.guard_errors import (
    UnguardedToolCall,
    let_errors_through,
)
from hitl_core.integrations.langgraph.guard.lost_pauses import (
    LostPauses,
    PauseLost,
    hold_pauses,
    raise_pause_lost,
    read_start,
    unsaved_pause_text,
)
from hitl_core.integrations.langgraph.guard.provider_tools import provider_tools
from hitl_core.integrations.langgraph.guard.questions import Questions, check_questions
from hitl_core.integrations.langgraph.guard.task_pauses import TaskGraphs
from hitl_core.model import ToolCall
from hitl_core.policy import Policy

log = logging.getLogger(__name__)


_run_watch: ContextVar[RunWatch | None] = ContextVar("hitl_watch", default=None)


@contextlib.contextmanager
def hold_watch(
    policy: Callable[[], Policy], questions: Questions, check_lock: Callable[[], None]
) -> Generator[None, None, None]:
    """Watch a driven graph while it runs. Raises at its end if it continued after a stopped tool
    (UnguardedToolCall), or after a pause that was lost (PauseLost). `questions`: what people are asked;
    `check_lock` raises LeaseLost if another process may run the thread now."""
    with hold_pauses() as pauses:
        watch = RunWatch(policy, pauses, questions, check_lock)
        token = _run_watch.set(watch)
        try:
            yield
        finally:
            _run_watch.reset(token)
        if watch.stop_reasons:
            raise UnguardedToolCall(watch.stop_reasons[0])


def check_run_lock() -> None:
    """In a driven run: raises LeaseLost if another process may run its thread now."""
    if (watch := _run_watch.get()) is not None:
        watch.check_lock()


class _CurrentWatch:
    """Acts as a context variable for LangChain, which reads it when code passes its own callbacks. Its value
    is the watch of the driven run, or else that of the parent run.
    """

    def get(self) -> Watch | None:
        if run_watch := _run_watch.get():
            return run_watch
        parent: Any = (var_child_runnable_config.get() or {}).get("callbacks")
        manager = isinstance(parent, BaseCallbackManager)
        handlers = cast(list[Any], parent.inheritable_handlers if manager else parent or [])
        return next((each for each in handlers if isinstance(each, Watch)), None)


@functools.cache
def _register() -> None:
    register_configure_hook(cast(Any, _CurrentWatch()), inheritable=True)


class Watch(BaseCallbackHandler):
    """Raises UnguardedToolCall when a tool starts that must not, and PauseLost when a graph pauses outside of
    a driven run and has no checkpointer that saves the pause."""

    raise_error = True
    run_inline = True

    def __init__(self, policy: Callable[[], Policy]) -> None:
        self._policy = policy
        self._unsaved: dict[UUID, str] = {}
        _register()

    def attach_to(self, graph: Graph) -> bool:
        """Add this watch to all runs of the graph. False if the graph keeps no callbacks."""
        if not self._is_attached(graph):
            graph.config = merge_configs(graph.config, {"callbacks": [self]})
        return self._is_attached(graph) and self._is_attached(graph.with_config({"tags": []}))

    def _is_attached(self, graph: Graph) -> bool:
        callbacks: Any = (graph.config or {}).get("callbacks") or []
        manager = isinstance(callbacks, BaseCallbackManager)
        return self in (callbacks.inheritable_handlers if manager else callbacks)

    @property
    def _has_run_watch(self) -> bool:
        """Whether this belongs to a driven run, which has its own watch."""
        return _run_watch.get() not in (None, self)

    def on_tool_start(self, serialized: Json | None, input_str: str, **kwargs: Any) -> None:
        if self._has_run_watch:
            return
        name, call_id = str((serialized or {}).get("name")), kwargs.get("tool_call_id")
        if (ticket := current_ticket()) and ticket.try_use(name, call_id, kwargs["run_id"]):
            return
        if call_id is not None:
            self._stop(
                f"`{name}` was stopped: the agent or ToolNode that called it was not found before the run, so"
                " it has no guard. Make that agent or ToolNode in the graph, or outside of the function that"
                " uses it."
            )
        if (why := self._objection(name, kwargs.get("inputs"))) is not None:
            self._stop(
                f"`{name}` was stopped. Code invoked it, not a tool node, so nobody can be asked about it:"
                f" {why} Let a ToolNode run it, or allow it in the policy."
            )

    def on_chat_model_start(
        self, serialized: Json | None, messages: Sequence[Any], **kwargs: Any
    ) -> None:
        if self._has_run_watch:
            return
        params = cast(Json, kwargs.get("invocation_params") or {})
        for name in provider_tools(params, (serialized or {}).get("kwargs")):
            if (why := self._objection(name, None)) is not None:
                self._stop(
                    f"The model's provider runs `{name}` itself, so nobody can be asked about it: {why}"
                    " Remove the tool, or allow it in the policy."
                )

    def on_llm_start(self, serialized: Json | None, prompts: list[str], **kwargs: Any) -> None:
        """Does nothing. LangChain may call it for a chat model in place of `on_chat_model_start`."""

    def on_chain_start(self, serialized: Json | None, inputs: Any, **kwargs: Any) -> None:
        start = read_start(sys._getframe())  # pyright: ignore[reportPrivateUsage]
        if self._has_run_watch:
            return
        check_questions(start.config, Questions())
        if (graph := start.graph) and graph.is_unsaved:
            self._unsaved[kwargs["run_id"]] = str(kwargs.get("name"))

    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        self._unsaved.pop(kwargs["run_id"], None)

    def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        self._unsaved.pop(kwargs["run_id"], None)
        around = self._unsaved.get(cast(UUID, kwargs.get("parent_run_id")))
        if around is not None and isinstance(error, GraphInterrupt):
            raise_pause_lost(PauseLost(unsaved_pause_text(around)))

    def _objection(self, name: str, args: Json | None) -> str | None:
        """Why the policy doesn't let the call run. `args`: None if not known, as of `tool.invoke("x")`."""
        policy = self._policy()
        if args is None and not policy.always_allows(name):
            return "the policy doesn't allow it with all arguments, and those of this call are not known."
        try:
            verdict = policy.judge(ToolCall(uuid4().hex, name, args or {})).verdict
        except HitlError as error:
            return str(error)
        if verdict.kind == "allow":
            return None
        return f"the policy doesn't allow it without a review ({verdict.kind})."

    def _stop(self, why: str) -> NoReturn:
        log.error("%s", why)
        raise UnguardedToolCall(why)


class RunWatch(Watch):
    """The watch of one driven run. `stop_reasons`: an error text for each stopped tool."""

    def __init__(
        self,
        policy: Callable[[], Policy],
        pauses: LostPauses,
        questions: Questions,
        check_lock: Callable[[], None],
    ) -> None:
        super().__init__(policy)
        self.stop_reasons: list[str] = []
        self._pauses, self._questions, self._graphs = pauses, questions, TaskGraphs()
        self._check_lock = check_lock

    def check_lock(self) -> None:
        with let_errors_through():
            self._check_lock()

    def on_chain_start(self, serialized: Json | None, inputs: Any, **kwargs: Any) -> None:
        run_id, name = kwargs["run_id"], str(kwargs.get("name"))
        self._pauses.begin(run_id, kwargs.get("parent_run_id"), name)
        start = read_start(sys._getframe())  # pyright: ignore[reportPrivateUsage]
        check_questions(start.config, self._questions)
        graph = start.graph
        if graph and graph.task and (why := self._graphs.begin(run_id, graph.task, name)):
            raise_pause_lost(PauseLost(why))

    def on_tool_start(self, serialized: Json | None, input_str: str, **kwargs: Any) -> None:
        name = str((serialized or {}).get("name"))
        self.check_lock()
        self._pauses.begin(kwargs["run_id"], kwargs.get("parent_run_id"), name)
        super().on_tool_start(serialized, input_str, **kwargs)

    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        self._graphs.end(kwargs["run_id"])
        if why := self._pauses.end(kwargs["run_id"]):
            raise_pause_lost(PauseLost(why))

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self.on_chain_end(output, **kwargs)

    def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        if why := self._pauses.end(kwargs["run_id"], error):
            self._pauses.add(PauseLost(why))
        if why := self._graphs.end(kwargs["run_id"], pauses=isinstance(error, GraphInterrupt)):
            raise_pause_lost(PauseLost(why))

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self.on_chain_error(error, **kwargs)

    def _stop(self, why: str) -> NoReturn:
        self.stop_reasons.append(why)
        super()._stop(why)
