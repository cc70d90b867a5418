"""Guarded functions: a call waits for the decision, then runs with the decided arguments."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ParamSpec, Protocol, TypeVar, overload
from uuid import uuid4

from hitl_core.errors import Rejected
from hitl_core.gate.outcome import Answer, Outcome, Tool, failure_result, run_tool, success_result
from hitl_core.model import Review, ToolCall

P = ParamSpec("P")
R = TypeVar("R")


class GuardDecorator(Protocol):
    """What `gate.guard(name="send_email")` returns: a decorator."""

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Callable[P, Coroutine[Any, Any, R]]: ...


@dataclass
class GuardThread:
    """The thread of guarded calls. A call's id is made of its tool and arguments, so a script that runs again
    after a crash makes the same ids, in any order, and finds the decisions. `unfinished`: the ids of calls
    that were cancelled or failed before their review was done, by tool and arguments.
    """

    thread_id: str
    requester: str | None = None
    origin: str | None = None
    reason: str | None = None
    calls: Counter[str] = field(default_factory=Counter[str])
    unfinished: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @classmethod
    def current(cls) -> GuardThread:
        """The thread of the `with` block; without a block, a new thread for each call."""
        return _thread.get() or cls(f"guard:{uuid4().hex}")

    @contextmanager
    def making_call(
        self, tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Generator[MadeCall, None, None]:
        """The same call made twice in one block is two calls. But if the first one is not finished at the end
        of this `with`, making it again continues it: it may be running, and people must not be asked for a
        second one. Raises what `Tool.flat_args` raises.
        """
        flat, args_hash = tool.flat_args(args, kwargs)
        key = f"{tool.name}#{args_hash[:12]}"
        id = self._next_id(key)
        made = MadeCall(ToolCall(id, tool.name, flat, self.reason))
        try:
            yield made
        finally:
            if made.outcome is None or not made.outcome.is_finished:
                self.unfinished.setdefault(key, []).append(id)

    def _next_id(self, key: str) -> str:
        if ids := self.unfinished.get(key):
            return ids.pop(0)
        self.calls[key] += 1
        count = self.calls[key]
        return key if count == 1 else f"{key}.{count}"


class Finishable(Protocol):
    """An Outcome, or a BlockingOutcome."""

    @property
    def is_finished(self) -> bool: ...


@dataclass
class MadeCall:
    """A guarded call, with its outcome as soon as people have decided."""

    call: ToolCall
    outcome: Finishable | None = None


_thread: ContextVar[GuardThread | None] = ContextVar("hitl_thread", default=None)


@contextmanager
def thread_scope(
    thread_id: str,
    requester: str | None = None,
    origin: str | None = None,
    reason: str | None = None,
) -> Generator[None, None, None]:
    """Guarded calls in this block belong to this thread."""
    token = _thread.set(GuardThread(thread_id, requester, origin, reason))
    try:
        yield
    finally:
        _thread.reset(token)


def guard_function(
    review: Callable[..., Awaitable[Outcome]], function: Callable[..., Any], name: str | None
) -> Callable[..., Coroutine[Any, Any, Any]]:
    """See `Gate.guard`; `review` is `Gate.review`. `BlockingGate.guard` is the sync version."""
    tool = Tool.from_function(function, name)

    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        thread = GuardThread.current()
        with thread.making_call(tool, args, kwargs) as made:
            made.outcome = outcome = await review(
                [made.call],
                thread_id=thread.thread_id,
                requester=thread.requester,
                origin=thread.origin,
            )
            try:
                return await _run_outcome(outcome, tool)
            finally:
                outcome.release()  # a kept exception keeps the outcome, which would keep its lease

    return call


async def _run_outcome(outcome: Outcome, tool: Tool) -> Any:
    if not outcome.execute:
        await outcome.finish()
        return unwrap_answer(outcome.review, outcome.answers[0])
    (call,) = outcome.execute
    if not await outcome.once(call):
        raise already_started_error(tool)
    try:
        with outcome.running(call):
            result = await run_tool(outcome.review, tool, call)
    except Exception as error:
        await outcome.finish({call.id: failure_result(outcome.review, call, error)})
        raise
    await outcome.finish({call.id: success_result(result)})
    return result


def unwrap_answer(review: Review, answer: Answer) -> str:
    """The text to return for a call that does not run: a person's answer. Raises Rejected for an error, and
    for a call that ran for another caller.
    """
    if answer.status == "error":
        raise Rejected(answer.content)
    if any(run.state == "done" and run.by is None for run in review.runs.values()):
        raise Rejected(
            "It ran for an equal call of this thread, and only that call's caller has the result."
            f" {answer.content}"
        )
    return answer.content


def already_started_error(tool: Tool) -> Rejected:
    return Rejected(f"`{tool.name}` was started before. Whether it ran is not known.")
