"""Whether a tool call may run now: as it was decided, once, or not at all."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import Any, NamedTuple, cast

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest

from hitl_core.dialects.interrupted import free
from hitl_core.errors import HitlError, InvalidToolCall, Refused
from hitl_core.failpoints import failpoint
from hitl_core.gate import Gate
from hitl_core.gate.answers import AGAIN, denial
from hitl_core.gate.request import Turn, id_of
from hitl_core.integrations.langgraph.arguments import why_not
from hitl_core.integrations.langgraph.graph import Json, last_ai_message, messages_of
from hitl_core.integrations.langgraph.holding import Held, Holding
from hitl_core.integrations.langgraph.thread import CLAIM
from hitl_core.integrations.langgraph.tool_messages import answered, stopped
from hitl_core.model import Call, Review, ToolCall, encode

log = logging.getLogger(__name__)

#: The line of a call that ran up to an interrupt of its own. No tool's result is kept as this line.
PAUSED = "asks something itself before it goes on"


class Permit(NamedTuple):
    """A reviewed call may run. `held` is the outcome that hears of it, None where that is done already."""

    held: Held | None


class Admission:
    """By the review of the call's turn, or where it has none by the policy."""

    def __init__(self, gate: Gate, holding: Holding) -> None:
        self._gate, self._holding = gate, holding

    async def admit(self, request: ToolCallRequest) -> Permit | ToolMessage | None:
        """None: it runs freely. A Permit: it may run now. Else the answer in its place."""
        origin = Origin.of(request)
        # LangGraph runs everything that waits again, also what the answer is not for: that waits on.
        if interrupts := (self._holding.waiting(origin.claim) or {}).get(origin.task_id):
            raise GraphInterrupt(interrupts)
        held = self._holding.get(origin.claim, origin.turn)
        try:
            _check_tool(request)
            if held is None:
                return await self._alone(request, origin)
            return await self._held(request, origin, held)
        except (Refused, InvalidToolCall) as error:
            if isinstance(error, Refused) and error.code == "busy":
                raise
            return _refused(request, held or self._claimed(origin, request), error)

    def refuse(self, request: ToolCallRequest, error: InvalidToolCall) -> ToolMessage:
        """The answer to a call that can't be checked at all."""
        origin = Origin.of(request)
        return _refused(request, self._claimed(origin, request), error)

    def _claimed(self, origin: Origin, request: ToolCallRequest) -> Held | None:
        """The outcome that is carried out now, where this call is one of its review that did not start: also
        under another AI message."""
        held, call_id = self._holding.claimed(origin.claim), request.tool_call["id"]
        if held is None or held.outcome.turn == origin.turn:
            return held
        review = held.outcome.review
        waits = {call.tool_call_id for call in review.calls if call.key not in review.runs}
        return held if call_id in waits and call_id not in held.lines else None

    async def _held(
        self, request: ToolCallRequest, origin: Origin, held: Held
    ) -> Permit | ToolMessage | None:
        outcome, call_id = held.outcome, str(request.tool_call["id"])
        await failpoint("langgraph.after_resume")
        call = _find(outcome.review, call_id)
        if _is_paused(outcome.review, call):
            _check_same(outcome.review, call, request)
            return self._goes_on(request, origin, held)
        for answer in outcome.answers:
            if answer.tool_call_id == call_id:
                return answered(request, answer.content, answer.status)
        if call.verdict.kind == "allow":
            _check_same(outcome.review, call, request)
            return None
        _check_taken(request)
        if await outcome.once(_tool_call(request)):
            return Permit(held)
        return stopped(request, "it was started already, and is not started twice.")

    async def _alone(self, request: ToolCallRequest, origin: Origin) -> Permit | ToolMessage | None:
        """A call of a turn whose review no driver of this process holds."""
        call = _tool_call(request)
        review = await self._stored_review(origin)
        if review is not None:
            return self._reviewed(request, origin, review)
        if await self._is_of_another_turn(origin, call):
            raise Refused(
                "not_allowed",
                "it has a review, and the AI message that it was reviewed with is not the last one any more:"
                " let no middleware replace that message, its id, or the state of the call.",
            )
        ruling = free(await self._gate.policy.judged(call, request.state), call)
        if ruling.verdict.kind == "allow":
            _check_taken(request)
            return None
        return answered(request, denial(call.name, ruling.verdict), "error")

    def _reviewed(
        self, request: ToolCallRequest, origin: Origin, review: Review
    ) -> Permit | ToolMessage | None:
        """What had its interrupt answered may go on: its review is through, and this is a driver's run."""
        call = _find(review, str(request.tool_call["id"]))
        if call.verdict.kind == "allow":
            _check_same(review, call, request)
            return None
        driven = self._holding.waiting(origin.claim) is not None
        if driven and _is_paused(review, call):
            _check_same(review, call, request)
            return self._goes_on(request, origin, None)
        return stopped(request, "it has a review, so only the driver may run it.")

    def _goes_on(
        self, request: ToolCallRequest, origin: Origin, held: Held | None
    ) -> Permit | ToolMessage:
        """A call that asked: each answer lets it start once more."""
        if self._holding.may_go_on(origin.claim, origin.task_id, str(request.tool_call["id"])):
            return Permit(held)
        return stopped(request, "it was started already, and is not started twice.")

    async def _is_of_another_turn(self, origin: Origin, asked: ToolCall) -> bool:
        """Whether a review of this thread knows the call under another AI message. Middlewares write the
        messages, so one that is not known must not make a reviewed call a free one. Some models give the
        next turn's calls the same ids, so the tool counts as well."""
        async for review in self._reviews_near(origin):
            known = {(c.tool_call_id, n) for c in review.calls for n in (c.name, review.tool(c))}
            if review.turn != origin.turn and (asked.id, asked.name) in known:
                return True
        return False

    async def _reviews_near(self, origin: Origin) -> AsyncGenerator[Review, None]:
        """The one that is carried out now, those of the thread that are not done, and for a call that comes
        with no message at all the last one that is done."""
        if held := self._holding.claimed(origin.claim):
            yield held.outcome.review
        if not origin.thread_id:
            return
        for review_id in await self._gate.reviews.store.thread(origin.thread_id):
            review = (await self._gate.reviews.load(review_id)).review
            if review.agent == self._gate.agent and (review.status != "done" or not origin.turn):
                yield review
            if review.status == "done":  # live ones come first
                return

    async def _stored_review(self, origin: Origin) -> Review | None:
        """That of this turn."""
        if not origin.turn:
            return None
        store = self._gate.reviews.store
        turn = Turn(self._gate.agent, origin.thread_id, origin.turn, None)
        snapshot = await store.load(id_of(turn, origin.call_ids, store.partitions))
        return snapshot and snapshot.review


def _refused(request: ToolCallRequest, held: Held | None, error: HitlError) -> ToolMessage:
    log.warning("A call of %s was stopped: %s", request.tool_call["name"], error)
    if held is not None:
        held.lines[str(request.tool_call["id"])] = f"failed: not executed: {error}"
    return stopped(request, str(error))


class Origin(NamedTuple):
    """Where a call comes from: the thread, LangGraph's task in it, the claim that drives it, the AI message
    and its calls."""

    thread_id: str
    task_id: str
    claim: str | None
    turn: str
    call_ids: list[str]

    @classmethod
    def of(cls, request: ToolCallRequest) -> Origin:
        config = cast(Json, cast(Any, request).runtime.config).get("configurable", {})
        message = last_ai_message(messages_of(request.state))
        ids = [str(call["id"]) for call in message.tool_calls] if message else []
        turn = (message.id if message else None) or ""
        task_id = str(config.get("checkpoint_ns", "")).rpartition(":")[2]
        return cls(str(config.get("thread_id", "")), task_id, config.get(CLAIM), turn, ids)


def own_copy(request: ToolCallRequest) -> ToolCallRequest:
    """The same, with a call that nobody else can change between its check and its start. Raises
    InvalidToolCall for arguments that are not plain JSON."""
    args = encode(request.tool_call["args"]).parse()
    return request.override(tool_call={**request.tool_call, "args": args})


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


def _check_tool(request: ToolCallRequest) -> None:
    """A middleware may put another tool behind a call: what was decided was about the tool that it names."""
    tool, name = request.tool, request.tool_call["name"]
    if tool is not None and tool.name != name:
        raise Refused(
            "args_changed", f"the call names `{name}`, and another tool stands behind it."
        )


def _check_taken(request: ToolCallRequest) -> None:
    """LangChain drops or replaces what the tool doesn't take: what was decided would not be what runs."""
    tools = [request.tool] if request.tool is not None else []
    if why := why_not(tools, request.tool_call["args"]):
        raise InvalidToolCall(f"{why} {AGAIN}")


def _check_same(review: Review, call: Call, request: ToolCallRequest) -> None:
    """What runs is what was decided; what nobody was asked about runs as the model wrote it."""
    mine = (review.tool(call), review.arguments(call.key))
    if mine != (request.tool_call["name"], encode(request.tool_call["args"])):
        raise Refused("args_changed", "it is not the call that the review allowed.")
    _check_taken(request)
