"""The second line: no tool of a driven run starts unless the guard let it, or the policy allows it unasked.

LangChain tells its callbacks of each tool before it starts, wherever it is called: by a tool node that was
made during the run, by `tool.invoke` in a node's own code, or by a middleware that swaps tools. A callback
that raises stops it. The watch is found by a context variable, so it also holds where code passes callbacks
of its own. A thread that is started without the context (`run_in_executor`) is out of its sight.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from hitl_core.errors import HitlError, IntegrationError
from hitl_core.integrations.langgraph.graph import Json
from hitl_core.model import ToolCall
from hitl_core.policy import Policy

log = logging.getLogger(__name__)

#: Tools that a provider only describes: the model's call of one comes back, and a tool node runs it.
_RUN_HERE = (
    "function", "custom", "bash", "text_editor", "computer", "memory", "shell", "local_shell", "apply_patch"
)  # fmt: skip


class PastTheGuard(IntegrationError):
    """A tool was about to run that no guard let through. It did not run."""


@dataclass(slots=True)
class Ticket:
    """One start of one tool, which the guard let through."""

    call_id: str
    name: str
    spent: bool = False


_ticket: ContextVar[Ticket | None] = ContextVar("hitl_ticket", default=None)
_watch: ContextVar[Watch | None] = ContextVar("hitl_watch", default=None)


@contextlib.contextmanager
def let_through(call: Mapping[str, Any]) -> Generator[None, None, None]:
    """The guard's: this call may start now, once."""
    token = _ticket.set(Ticket(str(call["id"]), call["name"]))
    try:
        yield
    finally:
        _ticket.reset(token)


@contextlib.contextmanager
def watched(policy: Callable[[], Policy]) -> Generator[None, None, None]:
    """While a driven graph runs. Raises PastTheGuard at the end where it went on after a stopped tool."""
    _register()
    watch = Watch(policy)
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
    if watch.stopped:
        raise PastTheGuard(watch.stopped[0])


@functools.cache
def _register() -> None:
    register_configure_hook(_watch, inheritable=True)


class Watch(BaseCallbackHandler):
    """`stopped` are the sentences about what did not run."""

    raise_error = True
    run_inline = True

    def __init__(self, policy: Callable[[], Policy]) -> None:
        self._policy = policy
        self.stopped: list[str] = []

    def on_tool_start(self, serialized: Json | None, input_str: str, **kwargs: Any) -> None:
        name, call_id = str((serialized or {}).get("name")), kwargs.get("tool_call_id")
        ticket = _ticket.get()
        if ticket and not ticket.spent and (ticket.name, ticket.call_id) == (name, call_id):
            ticket.spent = True
        elif call_id is not None:
            self._stop(
                f"`{name}` was called by something that the driver did not find, so no guard stood in front"
                " of it, and it was stopped: make the agent or ToolNode that runs it where the driver can see"
                " it, in the graph or outside of the function that uses it."
            )
        else:
            why = self._objection(name, kwargs.get("inputs") or {"input": input_str})
            if why is not None:
                self._stop(
                    f"`{name}` was invoked by code and not by a tool node, so nobody can be asked about it,"
                    f" and it was stopped: {why} Let a ToolNode run it, or allow it in the policy."
                )

    def on_chat_model_start(
        self, serialized: Json | None, messages: Sequence[Any], **kwargs: Any
    ) -> None:
        params = cast(Json, kwargs.get("invocation_params") or {})
        for name in _run_by_provider(params):
            if (why := self._objection(name, {})) is not None:
                self._stop(
                    f"The model's provider runs `{name}` itself, so nobody can be asked about it: {why} Take"
                    " the tool away, or allow it in the policy."
                )

    def on_llm_start(self, serialized: Json | None, prompts: list[str], **kwargs: Any) -> None:
        """LangChain tells of a chat model here where a handler doesn't know the other event."""

    def _objection(self, name: str, args: Json) -> str | None:
        try:
            verdict = self._policy().judge(ToolCall(uuid4().hex, name, args)).verdict
        except HitlError as error:
            return str(error)
        return (
            None
            if verdict.kind == "allow"
            else f"the policy doesn't allow it unasked ({verdict.kind})."
        )

    def _stop(self, sentence: str) -> None:
        log.error("%s", sentence)
        self.stopped.append(sentence)
        raise PastTheGuard(sentence)


def _run_by_provider(params: Json) -> list[str]:
    """The tools of this model call that its provider runs."""
    given = cast(list[Any], params.get("tools") or [])
    tools = [cast(Json, tool) for tool in given if isinstance(tool, dict)]
    own = [tool for tool in tools if not str(tool.get("type", "custom")).startswith(_RUN_HERE)]
    servers = cast(list[Json], params.get("mcp_servers") or [])
    return [str(each.get("name") or each.get("type")) for each in (*own, *servers)]
