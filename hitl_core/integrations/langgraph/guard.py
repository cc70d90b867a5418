"""Stands in front of the tools: a reviewed call runs as it was decided, once, or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Annotated, Any, NamedTuple, NotRequired, TypeVar, cast

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, Interrupt

from hitl_core.errors import HitlError, IntegrationError, InvalidToolCall, LeaseLost, Refused
from hitl_core.failpoints import failpoint
from hitl_core.gate import Gate
from hitl_core.gate.answers import denial
from hitl_core.gate.request import Turn, id_of
from hitl_core.integrations.langgraph import rulings
from hitl_core.integrations.langgraph.graph import Json, last_ai_message, messages_of
from hitl_core.integrations.langgraph.holding import Held, Holding
from hitl_core.integrations.langgraph.model_turn import approval
from hitl_core.integrations.langgraph.nested import MARK
from hitl_core.integrations.langgraph.thread import CLAIM
from hitl_core.integrations.langgraph.tool_messages import (
    Result,
    answered,
    line,
    raised,
    stopped,
)
from hitl_core.model import Call, Review, ToolCall, encode
from hitl_core.review.execution import one_line

log = logging.getLogger(__name__)

T = TypeVar("T")

#: How long the gate's event loop may take to answer a sync hook, in seconds.
PATIENCE = 5.0
#: The line of a call that ran up to an interrupt of its own. No tool's result is kept as this line.
PAUSED = "asks something itself before it goes on"


class _GuardState(AgentState[Any]):
    hitl_review_guard: NotRequired[Annotated[bool, PrivateStateAttr]]


class Permit(NamedTuple):
    """A reviewed call may run. `held` is the outcome that hears of it, None where that is done already."""

    held: Held | None


class ReviewGuard(AgentMiddleware[Any, Any, Any]):
    """List it after HumanInTheLoopMiddleware: only there it sees the edited arguments.

    Listed before, it refuses every edited call, and with `interrupt_mode="per_call"` the run raises
    IntegrationError at its first interrupt.
    """

    state_schema = _GuardState

    def __init__(self, gate: Gate, holding: Holding) -> None:
        super().__init__()
        self._gate, self._holding = gate, holding
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
        permit = await self._admit(request)
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
        permit = self._on_loop(self._admit(request))
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

    async def _admit(self, request: ToolCallRequest) -> Permit | ToolMessage | None:
        """None: it runs freely. A Permit: it may run now. Else the answer in its place."""
        origin = _origin(request)
        # LangGraph runs everything that waits again, also what the answer is not for: that waits on.
        if interrupts := (self._holding.waiting(origin.claim) or {}).get(origin.task_id):
            raise GraphInterrupt(interrupts)
        held = self._holding.get(origin.claim, origin.turn)
        try:
            if held is None:
                return await self._admit_alone(request, origin)
            return await self._admit_held(request, held)
        except (Refused, InvalidToolCall) as error:
            if isinstance(error, Refused) and error.code == "busy":
                raise
            log.warning("A call of %s was stopped: %s", request.tool_call["name"], error)
            if held is not None:
                held.lines[str(request.tool_call["id"])] = f"failed: not executed: {error}"
            return stopped(request, str(error))

    async def _admit_held(
        self, request: ToolCallRequest, held: Held
    ) -> Permit | ToolMessage | None:
        outcome, call_id = held.outcome, str(request.tool_call["id"])
        await failpoint("langgraph.after_resume")
        call = _find(outcome.review, call_id)
        if _is_paused(outcome.review, call):
            _check_same(outcome.review, call, request)
            return Permit(held)
        for answer in outcome.answers:
            if answer.tool_call_id == call_id:
                return answered(request, answer.content, answer.status)
        if call.verdict.kind == "allow":
            _check_same(outcome.review, call, request)
            return None
        if await outcome.once(_tool_call(request)):
            return Permit(held)
        return stopped(request, "it was started already, and is not started twice.")

    async def _admit_alone(
        self, request: ToolCallRequest, origin: Origin
    ) -> Permit | ToolMessage | None:
        """A call of a turn whose review no driver of this process holds."""
        call = _tool_call(request)
        review = await self._stored_review(origin)
        if review is not None:
            return self._admit_reviewed(request, origin, review)
        ruling = rulings.free(await self._gate.policy.judged(call, request.state), call)
        if ruling.verdict.kind == "allow":
            return None
        return answered(request, denial(call.name, ruling.verdict.reason), "error")

    def _admit_reviewed(
        self, request: ToolCallRequest, origin: Origin, review: Review
    ) -> Permit | ToolMessage | None:
        """What had its interrupt answered may go on: its review is through, and this is a driver's run."""
        call = _find(review, str(request.tool_call["id"]))
        if call.verdict.kind == "allow":
            return None
        driven = self._holding.waiting(origin.claim) is not None
        if driven and _is_paused(review, call):
            _check_same(review, call, request)
            return Permit(None)
        return stopped(request, "it has a review, so only the driver may run it.")

    async def _stored_review(self, origin: Origin) -> Review | None:
        """That of this turn."""
        if not origin.turn:
            return None
        store = self._gate.reviews.store
        turn = Turn(self._gate.agent, origin.thread_id, origin.turn, None)
        snapshot = await store.load(id_of(turn, origin.call_ids, store.partitions))
        return snapshot and snapshot.review

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


class Origin(NamedTuple):
    """Where a call comes from: the thread, LangGraph's task in it, the claim that drives it, the AI message
    and its calls."""

    thread_id: str
    task_id: str
    claim: str | None
    turn: str
    call_ids: list[str]


def _origin(request: ToolCallRequest) -> Origin:
    config = cast(Json, cast(Any, request).runtime.config).get("configurable", {})
    message = last_ai_message(messages_of(request.state))
    ids = [str(call["id"]) for call in message.tool_calls] if message else []
    turn = (message.id if message else None) or ""
    task_id = str(config.get("checkpoint_ns", "")).rpartition(":")[2]
    return Origin(str(config.get("thread_id", "")), task_id, config.get(CLAIM), turn, ids)


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


def _tool_call(request: ToolCallRequest) -> ToolCall:
    return ToolCall.from_mapping(request.tool_call)


def _find(review: Review, call_id: str) -> Call:
    for call in review.calls:
        if call.tool_call_id == call_id:
            return call
    raise Refused("not_allowed", "the review of this turn doesn't know it.")


def _is_paused(review: Review, call: Call) -> bool:
    run = review.runs.get(call.key)
    return run is not None and run.state == "done" and run.line == PAUSED


def _check_same(review: Review, call: Call, request: ToolCallRequest) -> None:
    """What runs is what was decided; what nobody was asked about runs as the model wrote it."""
    mine = (review.tool(call), review.arguments(call.key))
    if mine != (request.tool_call["name"], encode(request.tool_call["args"])):
        raise Refused("args_changed", "it is not the call that the review allowed.")
