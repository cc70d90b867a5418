"""Stands in front of the tools: a reviewed call runs as it was decided, once, or not at all.

It is put into each tool node, around the tool itself: what middlewares do to a call, in any order, they do
before the guard compares it with what was decided.
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
from hitl_core.integrations.langgraph.admission import PAUSED, Admission, Permit, own_copy
from hitl_core.integrations.langgraph.holding import Held, Holding
from hitl_core.integrations.langgraph.own_questions import questions_of
from hitl_core.integrations.langgraph.tool_messages import Result, line, raised
from hitl_core.integrations.langgraph.watch import let_through
from hitl_core.review.execution import one_line

T = TypeVar("T")
Execute: TypeAlias = Callable[[ToolCallRequest], Result]
AsyncExecute: TypeAlias = Callable[[ToolCallRequest], Awaitable[Result]]

#: How long the gate's event loop may take to answer a sync hook, in seconds.
PATIENCE = 5.0


class ReviewGuard:
    """Made by `HumanReview`."""

    def __init__(self, gate: Gate, holding: Holding) -> None:
        self._admission = Admission(gate, holding)
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def stand_in(self, node: ToolNode) -> bool:
        """Guard this tool node, once. False: it can't be, as it is none that calls what wraps it. Raises
        IntegrationError where the guard of another HumanReview stands there."""
        parts = vars(node)
        if type(node) is not ToolNode or not _runs_as_made(node):
            return False
        outer, async_outer = parts["_wrap_tool_call"], parts["_awrap_tool_call"]
        if isinstance(outer, _Guarded):
            if outer.guard is not self:
                raise IntegrationError(
                    "Another HumanReview guards these tools already: make one for all agents of a process."
                )
            return True
        guarded = _Guarded(self, outer, async_outer)
        setattr(node, "_wrap_tool_call", guarded)  # noqa: B010 - LangGraph has no public way
        setattr(node, "_awrap_tool_call", guarded.acall)  # noqa: B010
        return True

    async def acall(self, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        try:
            request = own_copy(request)
        except InvalidToolCall as error:
            return self._admission.refuse(request, error)
        permit = await self._admission.admit(request)
        if permit is None:
            with let_through(request.tool_call):
                return await execute(request)
        if not isinstance(permit, Permit):
            return permit
        # LangGraph cancels a tool when another one of the turn raises. Its effect may happen all the
        # same, so it is let run to its end, and reported.
        work = asyncio.ensure_future(self._run(permit.held, request, execute))
        if permit.held is not None:
            permit.held.running.add(work)
        return await asyncio.shield(work)

    async def _run(
        self, held: Held | None, request: ToolCallRequest, execute: AsyncExecute
    ) -> Result:
        try:
            with let_through(request.tool_call):
                result = await execute(request)
        except GraphInterrupt:
            await self._report_pause(held, request)
            raise
        except GraphBubbleUp:  # it hands over to another node: it ran
            await self._report_handover(held, request)
            raise
        except Exception as error:
            result = raised(request, error)
        await self._report(held, request, result)
        return result

    def call(self, request: ToolCallRequest, execute: Execute) -> Result:
        """For `invoke` in a worker thread, while the gate's loop runs in another."""
        try:
            request = own_copy(request)
        except InvalidToolCall as error:
            return self._admission.refuse(request, error)
        permit = self._on_loop(self._admission.admit(request))
        if permit is None:
            with let_through(request.tool_call):
                return execute(request)
        if not isinstance(permit, Permit):
            return permit
        try:
            with let_through(request.tool_call):
                result = execute(request)
        except GraphInterrupt:
            self._on_loop(self._report_pause(permit.held, request))
            raise
        except GraphBubbleUp:
            self._on_loop(self._report_handover(permit.held, request))
            raise
        except Exception as error:
            result = raised(request, error)
        self._on_loop(self._report(permit.held, request, result))
        return result

    async def _report(self, held: Held | None, request: ToolCallRequest, result: Result) -> None:
        await failpoint("langgraph.after_tool")
        call_id = str(request.tool_call["id"])
        text = line(result, call_id)
        if held is not None:
            await self._keep(held, call_id, "ran" if one_line(text) == PAUSED else text)

    async def _report_pause(self, held: Held | None, request: ToolCallRequest) -> None:
        await failpoint("langgraph.after_tool")
        call_id = str(request.tool_call["id"])
        if held is not None:
            await self._keep(held, call_id, PAUSED)

    async def _report_handover(self, held: Held | None, request: ToolCallRequest) -> None:
        await failpoint("langgraph.after_tool")
        if held is not None:
            await self._keep(held, str(request.tool_call["id"]), "ran")

    async def _keep(self, held: Held, call_id: str, text: str) -> None:
        """The model gets the result whatever the store says: what that didn't get, it gets with `done`."""
        try:
            await held.outcome.report({call_id: text})
            held.lines.pop(call_id, None)
        except LeaseLost:
            raise  # the run is no longer ours, and a person is asked about the call
        except HitlError:
            held.lines[call_id] = text

    def _on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """LangGraph's sync side runs tools in threads of its own, even when the loop's thread waits."""
        try:
            if self._loop is None:
                raise TimeoutError
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result(PATIENCE)
        except TimeoutError as error:
            work.close()
            raise IntegrationError(
                "The review guard needs the gate's event loop, which does not answer: call `ainvoke`,"
                " or `invoke` in a thread of its own (asyncio.to_thread) while that loop runs."
            ) from error
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _runs_as_made(node: ToolNode) -> bool:
    """Whether no method was put on the node itself, so that it calls what wraps its tools."""
    parts = vars(node)
    made = {"func": getattr(node, "_func"), "afunc": getattr(node, "_afunc")}  # noqa: B009
    own = any(callable(getattr(ToolNode, name, None)) for name in parts)
    wraps = {"_wrap_tool_call", "_awrap_tool_call"} <= parts.keys()
    return wraps and not own and all(parts.get(name) == each for name, each in made.items())


class _Guarded:
    """What a tool node calls for each call: the middlewares' wrapper, if it has one, around the guard."""

    def __init__(self, guard: ReviewGuard, outer: Any, async_outer: Any) -> None:
        self.guard, self._outer, self._async_outer = guard, outer, async_outer

    def __call__(self, request: ToolCallRequest, execute: Execute) -> Result:
        def inner(asked: ToolCallRequest) -> Result:
            return self.guard.call(asked, execute)

        with questions_of(request):
            return self._outer(request, inner) if self._outer else inner(request)

    async def acall(self, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        with questions_of(request):
            return await self._acall(request, execute)

    async def _acall(self, request: ToolCallRequest, execute: AsyncExecute) -> Result:
        async def inner(asked: ToolCallRequest) -> Result:
            return await self.guard.acall(asked, execute)

        if self._async_outer is not None:
            return await self._async_outer(request, inner)
        if (
            self._outer is not None
        ):  # LangGraph calls it all the same: here in a thread, so that it may wait
            loop = asyncio.get_running_loop()

            def wait(asked: ToolCallRequest) -> Result:
                return asyncio.run_coroutine_threadsafe(inner(asked), loop).result()

            return await asyncio.to_thread(self._outer, request, wait)
        return await inner(request)
