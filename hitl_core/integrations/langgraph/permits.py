"""Whether a tool call may run now: as it was decided, once, or not at all."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import Any, NamedTuple, cast

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest

from hitl_core.dialects import deny_unless_allowed
from hitl_core.errors import HitlError, InvalidToolCall, Refused
from hitl_core.failpoints import failpoint
from hitl_core.gate import AGAIN, Gate, ReviewKey, denial_text, review_id_for
from hitl_core.integrations.langgraph.active_runs import ActiveRun, ActiveRuns
from hitl_core.integrations.langgraph.arguments import why_not
from hitl_core.integrations.langgraph.graph import Json, last_ai_message, messages_of
from hitl_core.integrations.langgraph.thread import CLAIM
from hitl_core.integrations.langgraph.tool_messages import answer_message, stop_message
from hitl_core.model import Call, Review, ToolCall, encode

log = logging.getLogger(__name__)

#: The line of a call that ran up to an interrupt of its own. No tool's result is kept as this line.
PAUSED_LINE = "asks something itself before it goes on"


class Permit(NamedTuple):
    """A reviewed call may run. `held` is the outcome that hears of it, None where that is done already."""

    active_run: ActiveRun | None


class PermitChecker:
    """By the review of the call's turn, or where it has none by the policy."""

    def __init__(self, gate: Gate, active_runs: ActiveRuns) -> None:
        self._gate, self._active_runs = gate, active_runs

    async def check_call(self, request: ToolCallRequest) -> Permit | ToolMessage | None:
        """None: it runs freely. A Permit: it may run now. Else the answer in its place."""
        origin = CallOrigin.from_request(request)
        # LangGraph runs everything that waits again, also what the answer is not for: that waits on.
        if interrupts := (self._active_runs.open_interrupts(origin.claim) or {}).get(
            origin.task_id
        ):
            raise GraphInterrupt(interrupts)
        active_run = self._active_runs.get(origin.claim, origin.turn)
        try:
            _check_tool(request)
            if active_run is None:
                return await self._check_inactive(request, origin)
            return await self._check_active(request, origin, active_run)
        except (Refused, InvalidToolCall) as error:
            if isinstance(error, Refused) and error.code == "busy":
                raise
            return _refuse_call(request, active_run or self._claimed(origin, request), error)

    def refuse(self, request: ToolCallRequest, error: InvalidToolCall) -> ToolMessage:
        """The answer to a call that can't be checked at all."""
        origin = CallOrigin.from_request(request)
        return _refuse_call(request, self._claimed(origin, request), error)

    def _claimed(self, origin: CallOrigin, request: ToolCallRequest) -> ActiveRun | None:
        """The outcome that is carried out now, where this call is one of its review that did not start: also
        under another AI message."""
        held, call_id = self._active_runs.find_by_claim(origin.claim), request.tool_call["id"]
        if held is None or held.outcome.turn == origin.turn:
            return held
        review = held.outcome.review
        waits = {call.tool_call_id for call in review.calls if call.key not in review.runs}
        return held if call_id in waits and call_id not in held.lines else None

    async def _check_active(
        self, request: ToolCallRequest, origin: CallOrigin, active_run: ActiveRun
    ) -> Permit | ToolMessage | None:
        outcome, call_id = active_run.outcome, str(request.tool_call["id"])
        await failpoint("langgraph.after_resume")
        call = _find_call(outcome.review, call_id)
        if _is_paused(outcome.review, call):
            _check_same(outcome.review, call, request)
            return self._continue_call(request, origin, active_run)
        for answer in outcome.answers:
            if answer.tool_call_id == call_id:
                return answer_message(request, answer.content, answer.status)
        if call.verdict.kind == "allow":
            _check_same(outcome.review, call, request)
            return None
        _check_taken(request)
        if await outcome.once(_to_tool_call(request)):
            return Permit(active_run)
        return stop_message(request, "it was started already, and is not started twice.")

    async def _check_inactive(
        self, request: ToolCallRequest, origin: CallOrigin
    ) -> Permit | ToolMessage | None:
        """A call of a turn whose review no driver of this process holds."""
        call = _to_tool_call(request)
        review = await self._load_review(origin)
        if review is not None:
            return self._check_reviewed(request, origin, review)
        if await self._is_of_another_turn(origin, call):
            raise Refused(
                "not_allowed",
                "it has a review, and the AI message that it was reviewed with is not the last one any more:"
                " let no middleware replace that message, its id, or the state of the call.",
            )
        ruling = deny_unless_allowed(await self._gate.policy.judge_async(call, request.state), call)
        if ruling.verdict.kind == "allow":
            _check_taken(request)
            return None
        return answer_message(request, denial_text(call.name, ruling.verdict), "error")

    def _check_reviewed(
        self, request: ToolCallRequest, origin: CallOrigin, review: Review
    ) -> Permit | ToolMessage | None:
        """What had its interrupt answered may go on: its review is through, and this is a driver's run."""
        call = _find_call(review, str(request.tool_call["id"]))
        if call.verdict.kind == "allow":
            _check_same(review, call, request)
            return None
        driven = self._active_runs.open_interrupts(origin.claim) is not None
        if driven and _is_paused(review, call):
            _check_same(review, call, request)
            return self._continue_call(request, origin, None)
        return stop_message(request, "it has a review, so only the driver may run it.")

    def _continue_call(
        self, request: ToolCallRequest, origin: CallOrigin, active_run: ActiveRun | None
    ) -> Permit | ToolMessage:
        """A call that asked: each answer lets it start once more."""
        if self._active_runs.can_continue(
            origin.claim, origin.task_id, str(request.tool_call["id"])
        ):
            return Permit(active_run)
        return stop_message(request, "it was started already, and is not started twice.")

    async def _is_of_another_turn(self, origin: CallOrigin, call: ToolCall) -> bool:
        """Whether a review of this thread knows the call under another AI message. Middlewares write the
        messages, so one that is not known must not make a reviewed call a free one. Some models give the
        next turn's calls the same ids, so the tool counts as well."""
        async for review in self._reviews_of_thread(origin):
            known = {
                (c.tool_call_id, n) for c in review.calls for n in (c.name, review.tool_name(c))
            }
            if review.turn != origin.turn and (call.id, call.name) in known:
                return True
        return False

    async def _reviews_of_thread(self, origin: CallOrigin) -> AsyncGenerator[Review, None]:
        """The one that is carried out now, those of the thread that are not done, and for a call that comes
        with no message at all the last one that is done."""
        if active_run := self._active_runs.find_by_claim(origin.claim):
            yield active_run.outcome.review
        if not origin.thread_id:
            return
        for review_id in await self._gate.reviews.store.thread_reviews(origin.thread_id):
            review = (await self._gate.reviews.load(review_id)).review
            if review.agent == self._gate.agent and (review.status != "done" or not origin.turn):
                yield review
            if review.status == "done":  # live ones come first
                return

    async def _load_review(self, origin: CallOrigin) -> Review | None:
        """That of this turn."""
        if not origin.turn:
            return None
        store = self._gate.reviews.store
        turn = ReviewKey(self._gate.agent, origin.thread_id, origin.turn, None)
        snapshot = await store.load(review_id_for(turn, origin.call_ids, store.partitions))
        return snapshot and snapshot.review


def _refuse_call(
    request: ToolCallRequest, active_run: ActiveRun | None, error: HitlError
) -> ToolMessage:
    log.warning("A call of %s was stopped: %s", request.tool_call["name"], error)
    if active_run is not None:
        active_run.lines[str(request.tool_call["id"])] = f"failed: not executed: {error}"
    return stop_message(request, str(error))


class CallOrigin(NamedTuple):
    """Where a call comes from: the thread, LangGraph's task in it, the claim that drives it, the AI message
    and its calls."""

    thread_id: str
    task_id: str
    claim: str | None
    turn: str
    call_ids: list[str]

    @classmethod
    def from_request(cls, request: ToolCallRequest) -> CallOrigin:
        config = cast(Json, cast(Any, request).runtime.config).get("configurable", {})
        message = last_ai_message(messages_of(request.state))
        ids = [str(call["id"]) for call in message.tool_calls] if message else []
        turn = (message.id if message else None) or ""
        task_id = str(config.get("checkpoint_ns", "")).rpartition(":")[2]
        return cls(str(config.get("thread_id", "")), task_id, config.get(CLAIM), turn, ids)


def copy_request(request: ToolCallRequest) -> ToolCallRequest:
    """The same, with a call that nobody else can change between its check and its start. Raises
    InvalidToolCall for arguments that are not plain JSON."""
    args = encode(request.tool_call["args"]).parse()
    return request.override(tool_call={**request.tool_call, "args": args})


def _to_tool_call(request: ToolCallRequest) -> ToolCall:
    return ToolCall.from_mapping(request.tool_call)


def _find_call(review: Review, call_id: str) -> Call:
    for call in review.calls:
        if call.tool_call_id == call_id:
            return call
    raise Refused("not_allowed", "the review of this turn doesn't know it.")


def _is_paused(review: Review, call: Call) -> bool:
    run = review.runs.get(call.key)
    return run is not None and run.state == "done" and run.line == PAUSED_LINE


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
    mine = (review.tool_name(call), review.arguments(call.key))
    if mine != (request.tool_call["name"], encode(request.tool_call["args"])):
        raise Refused("args_changed", "it is not the call that the review allowed.")
    _check_taken(request)
