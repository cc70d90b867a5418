"""Checks whether a tool call may run now: as it was decided, and only once."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable
from typing import NamedTuple

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest

from hitl_core.dialects import deny_unless_allowed
from hitl_core.errors import HitlError, InvalidToolCall, Refused
from hitl_core.failpoints import failpoint
from hitl_core.gate import (
    Gate,
    ReviewKey,
    already_started_answer,
    answers,
    denial_text,
    find_review,
)
from hitl_core.integrations.langgraph.guard.active_runs import ActiveRun, ActiveRuns
from hitl_core.integrations.langgraph.guard.call_checks import (
    check_args,
    check_same,
    check_tool,
    find_answer,
    find_call,
    is_paused,
)
from hitl_core.integrations.langgraph.guard.tool_call import (
    CallOrigin,
    Result,
    answer_message,
    denial_message,
    stop_message,
    to_tool_call,
)
from hitl_core.integrations.langgraph.guard.watch import check_run_lock
from hitl_core.model import Review, ToolCall
from hitl_core.review import CallResult

log = logging.getLogger(__name__)


class Permit(NamedTuple):
    """The call may run. If it `is_reviewed`, `active_run` gets its result; None if its review is done."""

    origin: CallOrigin
    is_reviewed: bool
    active_run: ActiveRun | None = None


class PermitChecker:
    """Checks a call by the review of its turn, or by the policy if the turn has no review."""

    def __init__(self, gate: Gate, active_runs: ActiveRuns) -> None:
        self._gate, self._active_runs = gate, active_runs

    async def check_call(self, request: ToolCallRequest) -> Permit | Result:
        """If the call must not run, the answer to it."""
        origin = CallOrigin.from_request(request)
        # LangGraph starts every waiting task again, also those that get no answer now. These pause again
        # here.
        if interrupts := self._active_runs.open_interrupts(origin.claim, origin.task_id):
            raise GraphInterrupt(interrupts)
        active_run = self._active_runs.get(origin.claim, origin.turn)
        try:
            check_tool(request)
            if active_run is None:
                return await self._check_inactive(request, origin)
            return await self._check_active(request, origin, active_run)
        except (Refused, InvalidToolCall) as error:
            if isinstance(error, Refused) and error.code == "busy":
                raise
            claimed = active_run or self._find_claimed(origin, request)
            return _refuse_call(request, claimed, error)

    def refuse(self, request: ToolCallRequest, error: InvalidToolCall) -> ToolMessage:
        """The answer to a call that can't be checked at all."""
        origin = CallOrigin.from_request(request)
        return _refuse_call(request, self._find_claimed(origin, request), error)

    def _find_claimed(self, origin: CallOrigin, request: ToolCallRequest) -> ActiveRun | None:
        """The run that this process drives now, if the call belongs to its turn, or if it is a call of its
        review that has not started and now has another AI message.
        """
        run, call_id = self._active_runs.find_by_claim(origin.claim), request.tool_call["id"]
        if run is None or run.outcome.turn == origin.turn:
            return run
        review = run.outcome.review
        waits = {call.tool_call_id for call in review.calls if call.key not in review.runs}
        return run if call_id in waits and call_id not in run.results else None

    async def _check_active(
        self, request: ToolCallRequest, origin: CallOrigin, active_run: ActiveRun
    ) -> Permit | Result:
        outcome, call_id = active_run.outcome, str(request.tool_call["id"])
        await failpoint("langgraph.after_resume")
        call = find_call(outcome.review, call_id)
        if is_paused(outcome.review, call):
            check_same(outcome.review, call, request)
            return await self._continue_call(request, origin, outcome.review, active_run)
        if answer := find_answer(outcome.answers, call):
            if call.verdict.kind == "deny":
                return denial_message(request, answer.content)
            return answer_message(request, answer.content, answer.status)
        if call.verdict.kind == "allow":
            check_same(outcome.review, call, request)
            return Permit(origin, is_reviewed=False)
        check_args(request, outcome.review.arguments(call.key, 1).parse())
        check_run_lock()  # after `once`, a lost lock would leave the call in doubt
        if await outcome.once(to_tool_call(request)):
            active_run.started.add(call_id)
            return Permit(origin, is_reviewed=True, active_run=active_run)
        return self._answer_started(request, origin)

    async def _check_inactive(
        self, request: ToolCallRequest, origin: CallOrigin
    ) -> Permit | Result:
        """Check a call of a turn whose review this process doesn't drive."""
        call, review = to_tool_call(request), None
        if origin.turn:
            turn = ReviewKey(self._gate.agent, origin.thread_id, origin.turn, None)
            review = await find_review(self._gate.reviews, turn, origin.call_ids)
        if review is not None:
            return await self._check_reviewed(request, origin, review)
        if await self._is_of_another_turn(origin, call):
            raise Refused(
                "not_allowed",
                "it was reviewed with an AI message that is not the last one any more. No middleware may"
                " replace that message, its id, or the state of the call.",
            )
        judged = await self._gate.policy.judge_async(call, request.state)
        ruling = deny_unless_allowed(judged, call)
        if ruling.verdict.kind == "allow":
            check_args(request)
            return Permit(origin, is_reviewed=False)
        if judged.verdict.kind == "review":  # nobody was asked: the agent's developer must know
            log.warning("A call of %.80r does not run: %s", call.name, ruling.verdict.reason)
        return denial_message(request, denial_text(call.name, ruling.verdict))

    async def _check_reviewed(
        self, request: ToolCallRequest, origin: CallOrigin, review: Review
    ) -> Permit | Result:
        """Check a call of a known review. If it paused itself, it may continue after its review is done."""
        call = find_call(review, str(request.tool_call["id"]))
        if call.verdict.kind == "allow":
            check_same(review, call, request)
            return Permit(origin, is_reviewed=False)
        if is_paused(review, call):
            if self._active_runs.is_driven(origin.claim):
                check_same(review, call, request)
                return await self._continue_call(request, origin, review, None)
        elif call.key in review.runs and (answer := find_answer(answers(review), call)):
            return answer_message(request, answer.content, answer.status)
        return stop_message(request, "it has a review, so only the driver may run it.")

    async def _continue_call(
        self,
        request: ToolCallRequest,
        origin: CallOrigin,
        review: Review,
        active_run: ActiveRun | None,
    ) -> Permit | Result:
        """Check a call that paused at its own question. Each answer lets it start once more."""
        call_id = str(request.tool_call["id"])
        answered = self._active_runs.take_answers(origin.claim, origin.task_id, call_id)
        if answered and await self._is_first_answer(origin, review, call_id, answered):
            return Permit(origin, is_reviewed=True, active_run=active_run)
        return self._answer_started(request, origin)

    async def _is_first_answer(
        self, origin: CallOrigin, review: Review, call_id: str, answered: Iterable[str]
    ) -> bool:
        """Whether no earlier answer of the application to these questions let the call start: its process may
        have died, or its run was cancelled, before LangGraph saved the result. An answer of people counts
        once by its review, and a person may order another start.
        """
        if self._active_runs.find_by_claim(origin.claim) is not None:
            return True
        mark = " ".join(("answered", find_call(review, call_id).key, *sorted(answered)))
        return await self._gate.reviews.store.record_mark(review.id, mark)

    def _answer_started(self, request: ToolCallRequest, origin: CallOrigin) -> Result:
        """The answer to a call that was started already: its result, if this step has it."""
        result = self._active_runs.find_result(
            origin.claim, origin.turn, str(request.tool_call["id"])
        )
        if result is not None:
            return result
        text = already_started_answer(to_tool_call(request)).content
        return answer_message(request, text, "error")

    async def _is_of_another_turn(self, origin: CallOrigin, call: ToolCall) -> bool:
        """Whether a review of this thread has this call under another AI message. Middlewares can replace
        messages, and a reviewed call must not run unchecked because its message is unknown. Some models use
        the same call ids again in the next turn, so the tool's name is compared too.
        """
        async for review in self._reviews_of_thread(origin):
            known = {
                (c.tool_call_id, n) for c in review.calls for n in (c.name, review.tool_name(c))
            }
            if review.turn != origin.turn and (call.id, call.name) in known:
                return True
        return False

    async def _reviews_of_thread(self, origin: CallOrigin) -> AsyncGenerator[Review, None]:
        """The review of the driven run, and those of the thread that are not done. For a call without an AI
        message, also the last review that is done.
        """
        if active_run := self._active_runs.find_by_claim(origin.claim):
            yield active_run.outcome.review
        if not origin.thread_id:
            return
        async for listed in self._gate.reviews.thread_reviews(origin.thread_id):
            if listed.is_done and origin.turn:
                return
            review = (await self._gate.reviews.load(listed.id)).review
            if review.agent == self._gate.agent and (review.status != "done" or not origin.turn):
                yield review
            if listed.is_done:  # live ones come first
                return


def _refuse_call(
    request: ToolCallRequest, active_run: ActiveRun | None, error: HitlError
) -> ToolMessage:
    log.warning("A call of %s was stopped: %s", request.tool_call["name"], error)
    if active_run is not None:
        active_run.results[str(request.tool_call["id"])] = CallResult.failure(
            f"not executed: {error}"
        )
    return stop_message(request, str(error))
