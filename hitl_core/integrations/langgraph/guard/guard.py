"""The guard around the tools: a reviewed call runs once, with the arguments that were decided, or not at all.

It is installed in each tool node, directly around the tool. So middlewares change a call before the guard
compares it with the decision, and not after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest

from hitl_core.errors import HitlError, IntegrationError, InvalidToolCall, LeaseLost
from hitl_core.failpoints import failpoint
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph.guard.active_runs import ActiveRun, ActiveRuns, hold_ticket
from hitl_core.integrations.langgraph.guard.guard_errors import is_guard_error, let_errors_through
from hitl_core.integrations.langgraph.guard.permits import Permit, PermitChecker
from hitl_core.integrations.langgraph.guard.questions import hold_call
from hitl_core.integrations.langgraph.guard.task_pauses import TaskCalls
from hitl_core.integrations.langgraph.guard.tool_call import (
    RAN,
    CallOrigin,
    Result,
    call_result,
    copy_request,
    error_message,
)
from hitl_core.review import PAUSED, CallResult
from hitl_core.worker_threads import run_in_thread

T = TypeVar("T")
Execute: TypeAlias = Callable[[ToolCallRequest], Result]
AsyncExecute: TypeAlias = Callable[[ToolCallRequest], Awaitable[Result]]

#: How long the gate's event loop may take to answer a sync hook, in seconds.
LOOP_TIMEOUT = 5.0


class ReviewGuard:
    """Made by `HumanReview`."""

    def __init__(self, gate: Gate, active_runs: ActiveRuns) -> None:
        self._permit_checker = PermitChecker(gate, active_runs)
        self._active_runs = active_runs
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def guard_node(self, node: ToolNode) -> bool:
        """Guard this tool node. Does nothing if this guard is already there. False if the node can't be
        guarded because it doesn't call its wrappers. Raises IntegrationError if another HumanReview guards
        it.
        """
        parts = vars(node)
        if type(node) is not ToolNode or not _is_unmodified(node):
            return False
        outer, async_outer = parts["_wrap_tool_call"], parts["_awrap_tool_call"]
        if isinstance(outer, _GuardWrapper):
            if outer.guard is not self:
                raise IntegrationError(
                    "Another HumanReview guards these tools already. Use one for each gate, and for each of"
                    " them an agent with tool nodes of its own."
                )
            return True
        wrapper = _GuardWrapper(self, outer, async_outer)
        setattr(node, "_wrap_tool_call", wrapper)  # noqa: B010 - LangGraph has no public way
        setattr(node, "_awrap_tool_call", wrapper.acall)  # noqa: B010
        return True

    def begin(self, request: ToolCallRequest) -> TaskCalls:
        """Register a call of a task. Returns what is known of this task's calls."""
        origin = CallOrigin.from_request(request)
        task = self._active_runs.task_calls(origin.claim, origin.task_id)
        task.started.add(str(request.tool_call["id"]))
        return task

    async def acall(self, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        try:
            request = copy_request(request)
        except InvalidToolCall as error:
            return self._permit_checker.refuse(request, error)
        with let_errors_through():
            permit = await self._permit_checker.check_call(request)
        if not isinstance(permit, Permit):
            return permit
        if not permit.is_reviewed:
            with hold_ticket(request.tool_call):
                return await execute(request)
        # LangGraph cancels a tool when another one of the turn raises. The tool may already have had its
        # effect, so it runs to its end and its result is reported.
        work = asyncio.ensure_future(self._run(permit, request, execute))
        if permit.active_run is not None:
            permit.active_run.running.add(work)
        return await asyncio.shield(work)

    async def _run(self, permit: Permit, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        try:
            with hold_ticket(request.tool_call):
                result = await execute(request)
        except GraphInterrupt:
            await self._report_pause(permit.active_run, request)
            raise
        except GraphBubbleUp as error:
            if not is_guard_error(error):  # the tool ran, and hands control to another node
                await self._report_handover(permit.active_run, request)
            raise
        except Exception as error:
            result = error_message(request, error)
        await self._report(permit, request, result)
        return result

    def call(self, request: ToolCallRequest, execute: Execute) -> Result:
        """For the sync API (`invoke`), called in a worker thread. The gate's loop runs in another thread."""
        try:
            request = copy_request(request)
        except InvalidToolCall as error:
            return self._permit_checker.refuse(request, error)
        permit = self._run_on_loop(self._permit_checker.check_call(request))
        if not isinstance(permit, Permit):
            return permit
        if not permit.is_reviewed:
            with hold_ticket(request.tool_call):
                return execute(request)
        try:
            with hold_ticket(request.tool_call):
                result = execute(request)
        except GraphInterrupt:
            self._run_on_loop(self._report_pause(permit.active_run, request))
            raise
        except GraphBubbleUp as error:
            if not is_guard_error(error):
                self._run_on_loop(self._report_handover(permit.active_run, request))
            raise
        except Exception as error:
            result = error_message(request, error)
        self._run_on_loop(self._report(permit, request, result))
        return result

    async def _report(self, permit: Permit, request: ToolCallRequest, result: Result) -> None:
        await failpoint("langgraph.after_tool")
        call_id, origin = str(request.tool_call["id"]), permit.origin
        self._active_runs.keep_result(origin.claim, origin.turn, call_id, result)
        if permit.active_run is not None:
            await self._store_result(permit.active_run, call_id, call_result(result, call_id))

    async def _report_pause(self, active_run: ActiveRun | None, request: ToolCallRequest) -> None:
        await failpoint("langgraph.after_tool")
        call_id = str(request.tool_call["id"])
        if active_run is not None:
            await self._store_result(active_run, call_id, PAUSED)

    async def _report_handover(
        self, active_run: ActiveRun | None, request: ToolCallRequest
    ) -> None:
        await failpoint("langgraph.after_tool")
        if active_run is not None:
            await self._store_result(active_run, str(request.tool_call["id"]), RAN)

    async def _store_result(self, active_run: ActiveRun, call_id: str, result: CallResult) -> None:
        """Store the result of a call. It never fails because of the store: the model gets the result, and
        `finish` stores it later.
        """
        try:
            with let_errors_through():
                await active_run.outcome.report({call_id: result})
            active_run.results.pop(call_id, None)
        except LeaseLost:
            raise  # another process may have the run; a person decides what became of this call
        except HitlError:
            active_run.results[call_id] = result

    def _run_on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it on the gate's event loop. Called from a worker thread of LangGraph's sync API."""
        with let_errors_through():
            try:
                if self._loop is None:
                    raise TimeoutError
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result(LOOP_TIMEOUT)
            except TimeoutError as error:
                work.close()
                raise IntegrationError(
                    "The review guard needs the gate's event loop, which does not answer. Call `ainvoke`,"
                    " or call `invoke` in another thread (asyncio.to_thread) while that loop runs."
                ) from error
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _is_unmodified(node: ToolNode) -> bool:
    """Whether no method of this node was replaced, so that it calls its wrappers."""
    parts = vars(node)
    made = {"func": getattr(node, "_func"), "afunc": getattr(node, "_afunc")}  # noqa: B009
    own = any(callable(getattr(ToolNode, name, None)) for name in parts)
    wraps = {"_wrap_tool_call", "_awrap_tool_call"} <= parts.keys()
    return wraps and not own and all(parts.get(name) == each for name, each in made.items())


class _GuardWrapper:
    """A tool node calls it for each tool call. It runs the guard inside the middlewares' wrapper, if any."""

    def __init__(self, guard: ReviewGuard, outer: Any, async_outer: Any) -> None:
        self.guard, self._outer, self._async_outer = guard, outer, async_outer

    def __call__(self, request: ToolCallRequest, execute: Execute) -> Result:
        def inner(call_request: ToolCallRequest) -> Result:
            return self.guard.call(call_request, execute)

        with hold_call(request, self.guard.begin(request)):
            return self._outer(request, inner) if self._outer else inner(request)

    async def acall(self, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        task = self.guard.begin(request)
        await asyncio.sleep(0)  # the other calls of the task begin too, before this one runs
        with hold_call(request, task):
            return await self._acall(request, execute)

    async def _acall(self, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        async def inner(call_request: ToolCallRequest) -> Result:
            return await self.guard.acall(call_request, execute)

        if self._async_outer is not None:
            return await self._async_outer(request, inner)
        if self._outer is not None:
            # There is only a sync wrapper. LangGraph would call it here too; in a thread it can wait for the
            # guard.
            loop = asyncio.get_running_loop()

            def wait(call_request: ToolCallRequest) -> Result:
                return asyncio.run_coroutine_threadsafe(inner(call_request), loop).result()

            return await run_in_thread(self._outer, request, wait)
        return await inner(request)
