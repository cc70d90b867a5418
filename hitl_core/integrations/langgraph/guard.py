"""Stands in front of the tools: a reviewed call runs as it was decided, once, or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Annotated, Any, NamedTuple, NotRequired, TypeVar, cast

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Interrupt

from hitl_core.errors import HitlError, IntegrationError, InvalidToolCall, LeaseLost, Refused
from hitl_core.failpoints import failpoint
from hitl_core.gate import Gate, Outcome
from hitl_core.gate.answers import denial
from hitl_core.gate.request import Turn, id_of
from hitl_core.integrations.langgraph import rulings
from hitl_core.integrations.langgraph.graph import Json, last_ai_message, messages_of
from hitl_core.integrations.langgraph.holding import Held, Holding
from hitl_core.integrations.langgraph.per_call import approval
from hitl_core.integrations.langgraph.thread import CLAIM
from hitl_core.integrations.langgraph.tool_messages import (
    Result,
    answered,
    line,
    raised,
    stopped,
)
from hitl_core.model import Call, ToolCall, encode

log = logging.getLogger(__name__)

T = TypeVar("T")

#: How long the gate's event loop may take to answer a sync hook, in seconds.
PATIENCE = 5.0
#: A channel of the graph that is never written: by it a driver sees that the guard is in place.
MARK = "hitl_review_guard"


class _GuardState(AgentState[Any]):
    hitl_review_guard: NotRequired[Annotated[None, PrivateStateAttr]]


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

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        permit = await self._admit(request)
        if not isinstance(permit, Held):
            with _innermost(request):
                return permit or await handler(request)
        # LangGraph cancels a tool when another one of the turn raises. Its effect may happen all the
        # same, so it is let run to its end, and reported.
        work = asyncio.ensure_future(self._run(permit, request, handler))
        permit.running.add(work)
        return await asyncio.shield(work)

    async def _run(
        self,
        held: Held,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[Result]],
    ) -> Result:
        try:
            result = await handler(request)
        except GraphBubbleUp:
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
        if not isinstance(permit, Held):
            with _innermost(request):
                return permit or handler(request)
        try:
            result = handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            result = raised(request, error)
        self._on_loop(self._report(permit, request, result))
        return result

    async def _admit(self, request: ToolCallRequest) -> Held | ToolMessage | None:
        """None: it runs freely. Held: it may run now. Else the answer in its place."""
        origin = _origin(request)
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

    async def _admit_held(self, request: ToolCallRequest, held: Held) -> Held | ToolMessage | None:
        outcome, call_id = held.outcome, str(request.tool_call["id"])
        await failpoint("langgraph.after_resume")
        for answer in outcome.answers:
            if answer.tool_call_id == call_id:
                return answered(request, answer.content, answer.status)
        call = _find(outcome, call_id)
        if call.verdict.kind == "allow":
            _check_free(outcome, call, request)
            return None
        if await outcome.once(_tool_call(request)):
            return held
        return stopped(request, "it was started already, and is not started twice.")

    async def _admit_alone(self, request: ToolCallRequest, origin: Origin) -> ToolMessage | None:
        """A call of a turn that no driver of this process holds."""
        call = _tool_call(request)
        stored = await self._stored_verdict(call, origin)
        if stored == "allow":
            return None
        if stored is not None:
            return stopped(request, "it has a review, so only the driver may run it.")
        ruling = rulings.free(self._gate.policy.judge(call), call)
        if ruling.verdict.kind == "allow":
            return None
        return answered(request, denial(call.name, ruling.verdict.reason), "error")

    async def _stored_verdict(self, call: ToolCall, origin: Origin) -> str | None:
        """None where this turn has no review."""
        if not origin.turn:
            return None
        store = self._gate.reviews.store
        turn = Turn(self._gate.agent, origin.thread_id, origin.turn, None)
        snapshot = await store.load(id_of(turn, origin.call_ids, store.partitions))
        if snapshot is None:
            return None
        found = (c for c in snapshot.review.calls if c.tool_call_id == call.id)
        return next((c.verdict.kind for c in found), "deny")

    async def _report(self, held: Held, request: ToolCallRequest, result: Result) -> None:
        """The model gets the result whatever the store says: what that didn't get, it gets with `done`."""
        await failpoint("langgraph.after_tool")
        call_id = str(request.tool_call["id"])
        text = line(result, call_id)
        try:
            await held.outcome.report({call_id: text})
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
    """Where a call comes from: the thread, the claim that drives it, the AI message and its calls."""

    thread_id: str
    claim: str | None
    turn: str
    call_ids: list[str]


def _origin(request: ToolCallRequest) -> Origin:
    config = cast(Json, cast(Any, request).runtime.config).get("configurable", {})
    message = last_ai_message(messages_of(request.state))
    ids = [str(call["id"]) for call in message.tool_calls] if message else []
    turn = (message.id if message else None) or ""
    return Origin(str(config.get("thread_id", "")), config.get(CLAIM), turn, ids)


@contextlib.contextmanager
def _innermost(request: ToolCallRequest) -> Generator[None, None, None]:
    """Raises IntegrationError where LangChain asks about this call behind the guard: what is decided
    there, the guard would not see."""
    try:
        yield
    except GraphInterrupt as pause:
        requests = [approval(interrupt) for interrupt in cast(tuple[Interrupt, ...], pause.args[0])]
        if any(r and r.get("tool_call_id") == request.tool_call["id"] for r in requests):
            raise IntegrationError(
                "LangChain asks about this call after the review guard: list `reviews.middleware`"
                " after HumanInTheLoopMiddleware."
            ) from pause
        raise


def _tool_call(request: ToolCallRequest) -> ToolCall:
    return ToolCall.from_mapping(request.tool_call)


def _find(outcome: Outcome, call_id: str) -> Call:
    for call in outcome.review.calls:
        if call.tool_call_id == call_id:
            return call
    raise Refused("not_allowed", "the review of this turn doesn't know it.")


def _check_free(outcome: Outcome, call: Call, request: ToolCallRequest) -> None:
    """What nobody was asked about runs as the model wrote it."""
    mine = (call.name, outcome.review.arguments(call.key))
    if mine != (request.tool_call["name"], encode(request.tool_call["args"])):
        raise Refused("args_changed", "it is not the call that the review allowed.")
