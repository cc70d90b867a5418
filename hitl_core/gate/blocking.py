"""The gate for code without an event loop: it runs a `Gate` in a thread of its own.

with blocking.connect("redis://localhost:6379/0", policy=policy, agent="billing") as gate:
    outcome = gate.review(calls, thread_id="t-42")
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypedDict, TypeVar, Unpack, overload

from hitl_core.errors import GateClosed
from hitl_core.gate import guard
from hitl_core.gate.gate import LEASE, Gate
from hitl_core.gate.guard import P, R
from hitl_core.gate.outcome import Answer, Outcome, Tool, failure_line, success_line, tool_runs
from hitl_core.gate.submission import JudgedCalls
from hitl_core.gate.waiting import HEARTBEAT_TTL
from hitl_core.model import Decision, JsonObject, Review, ToolCall
from hitl_core.policy import Policy

T = TypeVar("T")


class Runner(Protocol):
    """Runs an awaitable on the gate's event loop, and waits for its result."""

    def __call__(self, work: Awaitable[T]) -> T: ...


@contextmanager
def connect(
    url: str,
    *,
    policy: Policy | str | Path,
    agent: str,
    lease: float = LEASE,
    heartbeat_ttl: float = HEARTBEAT_TTL,
    partitions: int | None = None,
) -> Generator[BlockingGate, None, None]:
    """Raises what `Gate.connect` raises."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="hitl-gate", daemon=True)
    thread.start()

    def run(work: Awaitable[T]) -> T:
        if loop.is_closed():
            if inspect.iscoroutine(work):
                work.close()
            raise GateClosed("The gate is not open: use it inside its `with`.")
        future = asyncio.run_coroutine_threadsafe(_await_result(work), loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C ends the wait, and does not change the review
            raise

    connection = Gate.connect(
        url,
        policy=policy,
        agent=agent,
        lease=lease,
        heartbeat_ttl=heartbeat_ttl,
        partitions=partitions,
    )
    try:
        gate = run(connection.__aenter__())
        try:
            yield BlockingGate(gate, run)
        finally:
            run(connection.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class SubmitOptions(TypedDict, total=False):
    """The optional arguments of `Gate.submit`."""

    requester: str | None
    turn: str | None
    context: Mapping[str, Any] | None
    tools: Mapping[str, JsonObject | None] | None
    path: Iterable[str]
    origin: str | None


class BlockingGate:
    """See `Gate`: every method does the same, and blocks until it is done."""

    def __init__(self, gate: Gate, run: Runner) -> None:
        self._gate, self._run = gate, run

    def review(
        self,
        calls: Iterable[ToolCall] | JudgedCalls,
        *,
        thread_id: str,
        **options: Unpack[SubmitOptions],
    ) -> BlockingOutcome:
        review = self._gate.review(calls, thread_id=thread_id, **options)
        return BlockingOutcome(self._run(review), self._run)

    def submit(
        self,
        calls: Iterable[ToolCall] | JudgedCalls,
        *,
        thread_id: str,
        **options: Unpack[SubmitOptions],
    ) -> str:
        return self._run(self._gate.submit(calls, thread_id=thread_id, **options))

    def wait(self, review_id: str) -> BlockingOutcome:
        return BlockingOutcome(self._run(self._gate.wait(review_id)), self._run)

    def outcomes(self) -> Iterator[BlockingOutcome]:
        outcomes = self._gate.outcomes()
        try:
            while True:
                yield BlockingOutcome(self._run(_next_outcome(outcomes)), self._run)
        finally:
            with suppress(GateClosed):
                self._run(_close_outcomes(outcomes))

    def cancel(self, review_id: str, reason: str | None = None) -> None:
        self._run(self._gate.cancel(review_id, reason))

    def withdraw(self, review_id: str, reason: str | None = None) -> BlockingOutcome:
        return BlockingOutcome(self._run(self._gate.withdraw(review_id, reason)), self._run)

    @overload
    def guard(self, function: Callable[P, R], *, name: str | None = None) -> Callable[P, R]: ...
    @overload
    def guard(self, *, name: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def guard(self, function: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
        """See `Gate.guard`. The function runs in the thread that calls it, so connections that belong to
        that thread work. Raises TypeError for an async function.
        """
        if function is None:
            return functools.partial(self.guard, name=name)
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"{function.__qualname__} is async: guard it with hitl_core.Gate.")
        tool = Tool.from_function(function, name)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            thread = guard.GuardThread.current()
            tool_call = thread.make_call(tool, args, kwargs)
            outcome = self.review(
                [tool_call],
                thread_id=thread.thread_id,
                requester=thread.requester,
                origin=thread.origin,
            )
            try:
                return _run_outcome(outcome, tool)
            finally:
                outcome.release()

        return call

    def thread(
        self, thread_id: str, requester: str | None = None, origin: str | None = None
    ) -> AbstractContextManager[None]:
        return guard.thread_scope(thread_id, requester, origin)


class BlockingOutcome:
    """See `Outcome`."""

    def __init__(self, outcome: Outcome, run: Runner) -> None:
        self._outcome, self._run = outcome, run
        self.review_id, self.thread_id = outcome.review_id, outcome.thread_id
        self.turn, self.requester = outcome.turn, outcome.requester

    @property
    def execute(self) -> tuple[ToolCall, ...]:
        return self._outcome.execute

    @property
    def answers(self) -> tuple[Answer, ...]:
        return self._outcome.answers

    @property
    def jump_to_model(self) -> bool:
        return self._outcome.jump_to_model

    @property
    def review(self) -> Review:
        return self._outcome.review

    @property
    def state_update(self) -> dict[str, Any]:
        return self._outcome.state_update

    def with_edit_notice(self, call: ToolCall, content: Any) -> Any:
        return self._outcome.with_edit_notice(call, content)

    def decision(self, call_id: str) -> Decision | None:
        return self._outcome.decision(call_id)

    def idempotency_key(self, call: ToolCall) -> str:
        return self._outcome.idempotency_key(call)

    def run(self, tools: tool_runs.ToolFunctions) -> tuple[Answer, ...]:
        """See `Outcome.run`. The functions run in the thread that calls this. Raises TypeError for an async
        function.
        """
        functions = tool_runs.tools_for(self.execute, tools)
        for name, tool in functions.items():
            if inspect.iscoroutinefunction(tool.function):
                raise TypeError(f"{name} is async: run it with hitl_core.Gate. Nothing was run.")
        results = [self._run_one(call, functions[call.name]) for call in self.execute]
        self.finish()
        return tool_runs.order_answers(self.review, self.answers, results)

    def _run_one(self, call: ToolCall, tool: Tool) -> Answer:
        if not self.once(call):
            return tool_runs.already_started(call)
        try:
            result = _run_in_thread(tool, call)
        except Exception as error:
            self.report({call.id: failure_line(self.review, call, error)})
            return tool_runs.failure(call, error)
        self.report({call.id: success_line(result)})
        return tool_runs.success(self.review, call, result)

    def fencing_token(self, call: ToolCall) -> int:
        return self._outcome.fencing_token(call)

    def once(self, call: ToolCall) -> bool:
        return self._run(self._outcome.once(call))

    def report(self, results: Mapping[str, object]) -> None:
        self._run(self._outcome.report(results))

    def finish(self, results: Mapping[str, object] | None = None) -> None:
        self._run(self._outcome.finish(results))

    def release(self) -> None:
        self._run(_call(self._outcome.release))


def _run_outcome(outcome: BlockingOutcome, tool: Tool) -> Any:
    """The same as `guard._run_outcome`, but the tool runs in this thread."""
    if not outcome.execute:
        outcome.finish()
        return guard.unwrap_answer(outcome.answers[0])
    (call,) = outcome.execute
    if not outcome.once(call):
        raise guard.already_started_error(tool)
    try:
        result = _run_in_thread(tool, call)
    except Exception as error:
        outcome.finish({call.id: failure_line(outcome.review, call, error)})
        raise
    outcome.finish({call.id: success_line(result)})
    return result


def _run_in_thread(tool: Tool, call: ToolCall) -> Any:
    result = tool.bind(call.args)()
    if inspect.isawaitable(
        result
    ):  # a decorator hid that the function is async: it has not run yet
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError(f"{tool.name} is async: use hitl_core.Gate.")
    return result


async def _await_result(work: Awaitable[T]) -> T:
    return await work


async def _next_outcome(outcomes: AsyncGenerator[Outcome, None]) -> Outcome:
    """A coroutine, because `run` can close one when the gate is closed; it can't close an `__anext__`."""
    return await anext(outcomes)


async def _close_outcomes(outcomes: AsyncGenerator[Outcome, None]) -> None:
    await outcomes.aclose()


async def _call(function: Callable[[], T]) -> T:
    return function()
