"""The `Gate` for code without an event loop: it runs a `Gate` on a loop of its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Unpack, overload

from hitl_core.errors import GateClosed
from hitl_core.gate import guard
from hitl_core.gate.blocking.loop import Runner, running_loop
from hitl_core.gate.blocking.outcome import BlockingOutcome, run_in_this_thread
from hitl_core.gate.connection import opens_in
from hitl_core.gate.gate import Gate
from hitl_core.gate.guard import P, R
from hitl_core.gate.outcome import Outcome, Tool, failure_result, success_result
from hitl_core.gate.submission import JudgedCalls, SubmitOptions
from hitl_core.gate.waiting import HEARTBEAT_TTL, LEASE
from hitl_core.model import ToolCall
from hitl_core.policy import Policy


@opens_in("with blocking.connect(…) as gate:")
@contextmanager
def connect(
    url: str | None = None,
    *,
    policy: Policy | str | Path,
    agent: str,
    lease: float = LEASE,
    heartbeat_ttl: float = HEARTBEAT_TTL,
    partitions: int | None = None,
) -> Generator[BlockingGate, None, None]:
    """The arguments and the errors are those of `Gate.connect`."""
    opening = Gate.connect(
        url,
        policy=policy,
        agent=agent,
        lease=lease,
        heartbeat_ttl=heartbeat_ttl,
        partitions=partitions,
    )
    with running_loop() as run:
        gate = run(opening.__aenter__())
        try:
            yield BlockingGate(gate, run)
        finally:
            run(opening.__aexit__(None, None, None))


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
            with thread.making_call(tool, args, kwargs) as made:
                made.outcome = outcome = self.review(
                    [made.call],
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
        self,
        thread_id: str,
        requester: str | None = None,
        origin: str | None = None,
        reason: str | None = None,
    ) -> AbstractContextManager[None]:
        return guard.thread_scope(thread_id, requester, origin, reason)


def _run_outcome(outcome: BlockingOutcome, tool: Tool) -> Any:
    """The same as `guard._run_outcome`, but the tool runs in this thread."""
    if not outcome.execute:
        outcome.finish()
        return guard.unwrap_answer(outcome.review, outcome.answers[0])
    (call,) = outcome.execute
    if not outcome.once(call):
        raise guard.already_started_error(tool)
    try:
        with outcome.running(call):
            result = run_in_this_thread(outcome.review, tool, call)
    except Exception as error:
        outcome.finish({call.id: failure_result(outcome.review, call, error)})
        raise
    outcome.finish({call.id: success_result(result)})
    return result


async def _next_outcome(outcomes: AsyncGenerator[Outcome, None]) -> Outcome:
    """A coroutine, because `run` can close one when the gate is closed; it can't close an `__anext__`."""
    return await anext(outcomes)


async def _close_outcomes(outcomes: AsyncGenerator[Outcome, None]) -> None:
    await outcomes.aclose()
