"""Stands in front of the tools: a reviewed call runs as it was decided, once, or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Annotated, Any, NotRequired, TypeVar, cast

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, Interrupt

from hitl_core.errors import HitlError, IntegrationError, LeaseLost
from hitl_core.failpoints import failpoint
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph.admission import PAUSED, Admission, Permit
from hitl_core.integrations.langgraph.holding import Held, Holding
from hitl_core.integrations.langgraph.model_turn import approval
from hitl_core.integrations.langgraph.nested import MARK
from hitl_core.integrations.langgraph.tool_messages import (
    Result,
    line,
    raised,
)
from hitl_core.review.execution import one_line

log = logging.getLogger(__name__)

T = TypeVar("T")

#: How long the gate's event loop may take to answer a sync hook, in seconds.
PATIENCE = 5.0


class _GuardState(AgentState[Any]):
    hitl_review_guard: NotRequired[Annotated[bool, PrivateStateAttr]]


class ReviewGuard(AgentMiddleware[Any, Any, Any]):
    """List it after HumanInTheLoopMiddleware: only there it sees the edited arguments.

    Listed before, it refuses every edited call, and with `interrupt_mode="per_call"` the run raises
    IntegrationError at its first interrupt.
    """

    state_schema = _GuardState

    def __init__(self, gate: Gate, holding: Holding) -> None:
        super().__init__()
        self._admission = Admission(gate, holding)
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ExtendedModelResponse[Any]:
        return _marked(await handler(request))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ExtendedModelResponse[Any]:
        return _marked(handler(request))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        permit = await self._admission.admit(request)
        if not isinstance(permit, Permit):
            with _innermost(request):
                return permit or await handler(request)
        # LangGraph cancels a tool when another one of the turn raises. Its effect may happen all the
        # same, so it is let run to its end, and reported.
        work = asyncio.ensure_future(self._run(permit.held, request, handler))
        if permit.held is not None:
            permit.held.running.add(work)
        return await asyncio.shield(work)

    async def _run(
        self,
        held: Held | None,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[Result]],
    ) -> Result:
        try:
            result = await handler(request)
        except GraphBubbleUp:
            await self._report_pause(held, request)
            raise
        except Exception as error:
            result = raised(request, error)
        await self._report(held, request, result)
        return result

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """For `invoke` in a worker thread, while the gate's loop runs in another."""
        permit = self._on_loop(self._admission.admit(request))
        if not isinstance(permit, Permit):
            with _innermost(request):
                return permit or handler(request)
        try:
            result = handler(request)
        except GraphBubbleUp:
            self._on_loop(self._report_pause(permit.held, request))
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


def _marked(response: ModelResponse[Any]) -> ExtendedModelResponse[Any]:
    return ExtendedModelResponse(response, Command(update={MARK: True}))


@contextlib.contextmanager
def _innermost(request: ToolCallRequest) -> Generator[None, None, None]:
    """Raises IntegrationError where LangChain asks about this call behind the guard: what is decided
    there, the guard would not see."""
    try:
        yield
    except GraphInterrupt as pause:
        interrupts = cast(tuple[Interrupt, ...], pause.args[0])
        requests = [approval(interrupt.value) for interrupt in interrupts]
        if any(r and r.get("tool_call_id") == request.tool_call["id"] for r in requests):
            raise IntegrationError(
                "LangChain asks about this call after the review guard: list `reviews.middleware`"
                " after HumanInTheLoopMiddleware."
            ) from pause
        raise
