"""What the agent does next, held on a lease."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from hitl_core.errors import HitlError, LeaseLost, Refused
from hitl_core.failpoints import failpoint
from hitl_core.gate.outcome import tool_runs
from hitl_core.gate.outcome.answers import Answer, answers
from hitl_core.gate.outcome.tool import Tool, failure_line, run_tool, success_line
from hitl_core.gate.outcome.transcript import add_edit_notice, state_update
from hitl_core.model import Call, Decision, Review, ToolCall, encode
from hitl_core.review import claims
from hitl_core.review.redaction import secrets_of
from hitl_core.review.service import ChangeResult, Reviews, TransitionFunction, uptime


class Outcome:
    """One settled review, claimed by this process.

    `execute`: the ToolCalls to run, in the model's order, edits applied, ids kept, the keys of arguments
    sorted as in the bytes that were decided, also in what `annotated` says. `answers`: one tool message
    for every call that must not run. `jump_to_model`: nothing is left to execute. The lease is
    renewed while this object is alive; it ends with `done`, or some time after the process died.
    """

    def __init__(self, review: Review, reviews: Reviews, lease: float) -> None:
        self._review, self._reviews, self._lease = review, reviews, lease
        self._fence = review.fence
        self._calls = {call.tool_call_id: call for call in review.calls}
        self.review_id, self.thread_id, self.turn = review.id, review.thread_id, review.turn
        self.requester = review.requester
        running = claims.runnable_calls(review) if review.status == "claimed" else ()
        self.execute = tuple(
            ToolCall(call.tool_call_id, review.tool_name(call), review.arguments(call.key).parse())
            for call in running
        )
        self.answers: tuple[Answer, ...] = answers(review)
        self._renewal: asyncio.Task[None] | None = None
        if review.status == "claimed":
            self._renewal = asyncio.create_task(_renew(weakref.ref(self), lease / 3))

    @property
    def jump_to_model(self) -> bool:
        return not self.execute

    @property
    def state_update(self) -> dict[str, Any]:
        """What people's own answers put into the agent's state, where its configuration names a key."""
        return state_update(self._review)

    def with_edit_notice(self, call: ToolCall, content: Any) -> Any:
        """A tool's result, after the notice that a person edited its call; see `transcript.annotated`."""
        return add_edit_notice(self._review, call.id, content)

    @property
    def review(self) -> Review:
        """The review as it was when it was claimed, with every decision."""
        return self._review

    def decision(self, call_id: str) -> Decision | None:
        """None for a call that nobody had to decide."""
        action = self._review.action(self._calls[call_id].key)
        return action.decision if action else None

    def idempotency_key(self, call: ToolCall) -> str:
        """The same for every attempt of this call: hand it to what the tool calls."""
        return f"{self.review_id}:{self._calls[call.id].key}"

    async def run(self, tools: tool_runs.ToolFunctions) -> tuple[Answer, ...]:
        """Run each call of `execute` with its function from `tools`, one after the other, and end the review.

        The answers are for the model: one for each call of the turn, in its order. A function that raises
        counts as run: its answer and its line on the card say how it failed, and the next call runs.
        Raises InvalidToolCall where a function is missing, before anything runs, and what `once` raises.
        """
        functions = tool_runs.tools_for(self.execute, tools)
        results = [await self._run_one(call, functions[call.name]) for call in self.execute]
        await self.finish()
        return tool_runs.order_answers(self._review, self.answers, results)

    async def _run_one(self, call: ToolCall, tool: Tool) -> Answer:
        if not await self.once(call):
            return tool_runs.already_started(call)
        try:
            result = await run_tool(tool, call)
        except Exception as error:
            await self.report({call.id: failure_line(self._review, call, error)})
            return tool_runs.failure(call, error)
        await self.report({call.id: success_line(result)})
        return tool_runs.success(self._review, call, result)

    def fencing_token(self, call: ToolCall) -> int:
        """Increases with every attempt of this call: what the tool calls can refuse one that is smaller than
        the greatest it has seen. So a process that was stopped between `once` and the tool does no harm.
        """
        self._calls[call.id]
        return self._fence

    async def once(self, call: ToolCall) -> bool:
        """True exactly once, in any process: then run the tool, immediately. The lease held when it says so.

        Raises Refused where the call isn't one of `execute` or its arguments are no longer those that
        were decided, LeaseLost where another process may have the review, and StoreUnavailable: the
        tool must not run then.
        """
        key = self._check_call(call).key
        await failpoint("gate.before_once")
        since = uptime()
        try:
            applied = await self._change(
                "once", lambda r, now: claims.start(r, self._fence, key, now)
            )
        except Refused as refused:
            if refused.code == "already_started":
                return False
            raise
        await failpoint("gate.after_once")
        return await self._reviews.can_still_run(applied, key, self._fence, since)

    async def report(self, results: Mapping[str, object]) -> None:
        """Keep what came of some calls, by tool call id: their cards show the first line of it. Of calls
        that `execute` does not name nothing is kept.
        """
        lines = self._lines(results)
        await self._change("report", lambda r, now: claims.report(r, self._fence, lines, now))

    async def finish(self, results: Mapping[str, object] | None = None) -> None:
        """This review is through: what came of each call, by tool call id. Raises LeaseLost, and Refused for
        an id that is none of this review's calls.

        Call it when the agent can't come back to this review any more: from then on nobody gets it again.
        """
        if self._review.status == "done":
            return
        lines = self._lines(results or {})
        await failpoint("gate.before_done")
        await self._change("done", lambda r, now: claims.finish(r, self._fence, lines, now))
        self.release()

    def release(self) -> None:
        """Stop renewing: when the lease ends, another process takes the review up."""
        if self._renewal is not None:
            self._renewal.cancel()
            self._renewal = None

    def _check_call(self, call: ToolCall) -> Call:
        known = self._calls.get(call.id)
        if known is None or call.id not in {running.id for running in self.execute}:
            raise Refused("not_allowed", f"The call {call.id!r} must not run.")
        name = self._review.tool_name(known)
        if call.name != name or encode(call.args) != self._review.arguments(known.key):
            raise Refused(
                "args_changed",
                f"The call {call.id!r} of {name} is not the one that was decided: it must not run.",
            )
        return known

    def _lines(self, results: Mapping[str, object]) -> dict[str, str]:
        if unknown := [id for id in results if id not in self._calls]:
            known_ids = ", ".join(map(repr, self._calls))
            raise Refused(
                "unknown_call", f"This review has no call {unknown[0]!r}; it has {known_ids}."
            )
        keys = {self._calls[call.id].key: call.id for call in self.execute if call.id in results}
        return {  # a tool's result may repeat what people must not see
            key: claims.one_line(results[id], secrets_of(self._review, key))
            for key, id in keys.items()
        }

    async def _renew_once(self) -> None:
        await self._change("renew", lambda r, now: claims.renew(r, self._fence, now, self._lease))

    async def _change(self, operation: str, apply: TransitionFunction) -> ChangeResult:
        return await self._reviews.change(self.review_id, f"{operation}:{uuid4().hex}", apply)


async def _renew(outcome: weakref.ref[Outcome], every: float) -> None:
    """Holds no reference while it sleeps: an outcome that was dropped lets its lease end."""
    while True:
        await asyncio.sleep(every)
        held = outcome()
        if held is None:
            return
        try:
            await held._renew_once()  # pyright: ignore[reportPrivateUsage] - its own class's task
        except LeaseLost:
            return
        except HitlError:
            pass  # busy, or the store is away: the next try may come in time
        del held
