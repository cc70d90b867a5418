"""The `Outcome`: what the agent does next. It holds the claim of its review."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from hitl_core.errors import HitlError, LeaseLost, Refused
from hitl_core.failpoints import failpoint
from hitl_core.gate.outcome.answers import Answer, add_edit_notice, answers, state_update
from hitl_core.gate.outcome.call_starts import CallStarts
from hitl_core.gate.outcome.known_calls import KnownCalls, check_call
from hitl_core.gate.outcome.tool import (
    Tool,
    ToolFunctions,
    already_started_answer,
    failure_answer,
    failure_result,
    order_answers,
    run_tool,
    success_answer,
    success_result,
    tools_for,
)
from hitl_core.gate.outcome.tool_spans import ToolSpans
from hitl_core.model import Call, Decision, Review, ToolCall, encode
from hitl_core.review import CallResult, ChangeResult, Reviews, TransitionFunction, claims


class Outcome:
    """One settled review, claimed by this process.

    `execute`: the ToolCalls to run, in the model's order, with edits applied and ids unchanged. The keys of
    their arguments are sorted, as in the bytes that were decided. `answers`: one tool message for every call
    that must not run. `jump_to_model`: True if nothing is left to execute. The lease is renewed while this
    object is alive; it ends with `finish`, or up to `lease` seconds after the process died.
    """

    def __init__(self, review: Review, reviews: Reviews, lease: float) -> None:
        self._review, self._reviews, self._lease = review, reviews, lease
        self._fence = review.fence
        self._calls = KnownCalls(review)
        self.review_id, self.thread_id, self.turn = review.id, review.thread_id, review.turn
        self.requester = review.requester
        running = claims.runnable_calls(review) if review.status == "claimed" else ()
        self.execute = tuple(
            ToolCall(call.tool_call_id, review.tool_name(call), review.arguments(call.key).parse())
            for call in running
        )
        self._handed: dict[str, str] = {}
        self._starts = CallStarts(review, reviews)
        self._runs = ToolSpans(review)
        self.answers: tuple[Answer, ...] = answers(review)
        #: Whether the review is done, as far as this process knows.
        self.is_finished = review.status == "done"
        self._renewal: asyncio.Task[None] | None = None
        self.keep()

    @property
    def jump_to_model(self) -> bool:
        return not self.execute

    @property
    def state_update(self) -> dict[str, Any]:
        """People's answers to put into the agent's state, by the keys that the policy names for them."""
        return state_update(self._review)

    def with_edit_notice(self, call: ToolCall, content: Any) -> Any:
        """The tool's result, after a notice that a person edited its call; see `add_edit_notice`."""
        return add_edit_notice(self._review, call.id, content)

    @property
    def review(self) -> Review:
        """The review at the time of the claim, with every decision."""
        return self._review

    def decision(self, call_id: str) -> Decision | None:
        """None for a call that needed no decision. Raises Refused for an id that is no call of the turn."""
        action = self._review.action(self._calls.find(call_id).key)
        return action.decision if action else None

    def idempotency_key(self, call: ToolCall) -> str:
        """The same for every attempt of this call: pass it to the service that the tool calls."""
        return f"{self.review_id}:{self._calls.find_call(call).key}"

    async def run(self, tools: ToolFunctions) -> tuple[Answer, ...]:
        """Run each call of `execute` with its function from `tools`, one after the other, and finish.

        Returns one answer for the model for each call of the turn, in the model's order. A function that
        raises counts as run: its answer and its line on the card give the error, and the next call runs.
        Raises InvalidToolCall when a function is missing, before anything runs, what `once` raises, and
        Refused when an earlier attempt of a call has no result: see `finish`. After an error, and if this is
        cancelled, another process can claim the review when the lease ends, or a person is asked.
        """
        self.keep()  # an earlier `run` may have failed
        try:
            functions = tools_for(self.execute, tools)
            results = [await self._run_one(call, functions[call.name]) for call in self.execute]
            await self.finish()
        except BaseException:
            self.release()  # a worker keeps this object until it gets the next one
            raise
        return order_answers(self._review, self.answers, results)

    async def _run_one(self, call: ToolCall, tool: Tool) -> Answer:
        if not await self.once(call):
            return already_started_answer(call)
        try:
            with self.running(call):
                result = await run_tool(self._review, tool, call)
        except Exception as error:
            await self.report({call.id: failure_result(self._review, call, error)})
            return failure_answer(call, error)
        await self.report({call.id: success_result(result)})
        return success_answer(self._review, call, result)

    def fencing_token(self, call: ToolCall) -> int:
        """A number that increases with every attempt of this call. The service that the tool calls can refuse
        a number smaller than the greatest it has seen: so a process that was paused between `once` and the
        tool does no harm.
        """
        self._calls.find_call(call)
        return self._fence

    async def once(self, call: ToolCall) -> bool:
        """True exactly once for each call, over all processes: then run the tool immediately. The lease was
        still valid when this returned.

        Raises Refused when the call is not in `execute`, when its arguments are not the decided ones, and
        when the review is held because the store lost writes; LeaseLost when another process may have the
        review, and StoreUnavailable: the tool must not run then.
        """
        started = await self._starts.start(self._check_call(call).key)
        if started:
            self._runs.start(call)
        return started

    def running(self, call: ToolCall) -> contextlib.AbstractContextManager[None]:
        """With OpenTelemetry: what the tool does in this block is a part of the span of its call."""
        return self._runs.use(call)

    async def hand_over(self) -> tuple[str, ...]:
        """Call `once` for every call on which the agent may act, also for those that a person answered in
        their own words (`respond`). Use it for an agent that acts on the answers itself, for example after an
        interrupt in its own code. If the process dies after this, a person is asked what became of these
        calls. Returns their ids, for `report`. Raises what `once` raises.
        """
        for call in claims.actionable_calls(self._review):
            await self._starts.start(call.key)
            self._handed[call.tool_call_id] = call.key
        return tuple(self._handed)

    async def report(self, results: Mapping[str, object]) -> None:
        """Store the results of some calls, by tool call id: their cards show the first line. Results of calls
        that are not in `execute`, and were not handed over, are not stored.
        """
        by_key = self._results_by_key(results)
        await self._change("report", lambda r, now: claims.report(r, self._fence, by_key, now))
        self._runs.end(results)

    async def finish(self, results: Mapping[str, object] | None = None) -> None:
        """Mark the review as done, with the results of its calls by tool call id. Raises LeaseLost, and
        Refused for an id that is not a call of this review, and for a call that was started and has no
        result. Pass a result for each started call, even if it failed. Otherwise a person is asked when the
        lease ends; this process no longer renews it.

        Call it when the agent will not need this review again: after that, no process gets it any more.
        """
        if self._review.status == "done":
            return
        by_key = self._results_by_key(results or {})
        await failpoint("gate.before_done")
        try:
            await self._change("done", lambda r, now: claims.finish(r, self._fence, by_key, now))
        except Refused as refused:
            if refused.code == "no_result":
                self.release()
            raise
        self.is_finished = True
        self._runs.end(results or {})
        self.release()

    def keep(self) -> None:
        """Renew the lease again, after `release`, as long as this object is alive."""
        if self._renewal is None and self._review.status == "claimed" and not self.is_finished:
            self._renewal = asyncio.create_task(_renew(weakref.ref(self), self._lease / 3))

    def release(self) -> None:
        """Stop renewing the lease: when it ends, another process can claim the review."""
        self._runs.end_all()
        if self._renewal is not None:
            self._renewal.cancel()
            self._renewal = None

    def _check_call(self, call: ToolCall) -> Call:
        if check_call(call).id not in {running.id for running in self.execute}:
            raise Refused(
                "not_allowed",
                f"The call {call.id!r} must not run: run only the calls in `execute`.",
            )
        known = self._calls.find(call.id)
        name = self._review.tool_name(known)
        if call.name != name or encode(call.args) != self._review.arguments(known.key):
            raise Refused(
                "args_changed",
                f"The call {call.id!r} of {name} is not the one that was decided: it must not run."
                " Pass it as it is in `execute`.",
            )
        return known

    def _results_by_key(self, results: Mapping[str, object]) -> dict[str, CallResult]:
        given = self._calls.results_by_call(results)
        may_run = {call.id for call in self.execute} | self._handed.keys()
        return {c.key: CallResult.of(result) for c, result in given if c.tool_call_id in may_run}

    async def _renew_once(self) -> None:
        await self._change("renew", lambda r, now: claims.renew(r, self._fence, now, self._lease))

    async def _change(self, operation: str, apply: TransitionFunction) -> ChangeResult:
        return await self._reviews.change(self.review_id, f"{operation}:{uuid4().hex}", apply)


async def _renew(outcome: weakref.ref[Outcome], every: float) -> None:
    """Holds no reference while it sleeps, so that the lease of an unused outcome ends."""
    while True:
        await asyncio.sleep(every)
        current = outcome()
        if current is None:
            return
        try:
            await current._renew_once()  # pyright: ignore[reportPrivateUsage] - a task of its own class
        except LeaseLost:
            return
        except HitlError:
            pass  # the next attempt may still be in time
        del current
