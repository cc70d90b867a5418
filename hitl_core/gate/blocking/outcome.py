"""The `Outcome` for code without an event loop: tools run in the thread that calls it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any, TypeVar

from hitl_core.errors import GateClosed
from hitl_core.gate.blocking.loop import Runner
from hitl_core.gate.outcome import (
    Answer,
    Outcome,
    Tool,
    ToolFunctions,
    already_started_answer,
    failure_answer,
    failure_result,
    order_answers,
    success_answer,
    success_result,
    tools_for,
)
from hitl_core.model import Decision, Review, ToolCall

T = TypeVar("T")


class BlockingOutcome:
    """See `Outcome`."""

    def __init__(self, outcome: Outcome, run: Runner) -> None:
        self._outcome, self._run = outcome, run
        self.review_id, self.thread_id = outcome.review_id, outcome.thread_id
        self.turn, self.requester = outcome.turn, outcome.requester

    @property
    def execute(self) -> tuple[ToolCall, ...]:
        return self._outcome.execute

    @property
    def answers(self) -> tuple[Answer, ...]:
        return self._outcome.answers

    @property
    def jump_to_model(self) -> bool:
        return self._outcome.jump_to_model

    @property
    def is_finished(self) -> bool:
        return self._outcome.is_finished

    @property
    def review(self) -> Review:
        return self._outcome.review

    @property
    def state_update(self) -> dict[str, Any]:
        return self._outcome.state_update

    def with_edit_notice(self, call: ToolCall, content: Any) -> Any:
        return self._outcome.with_edit_notice(call, content)

    def decision(self, call_id: str) -> Decision | None:
        return self._outcome.decision(call_id)

    def idempotency_key(self, call: ToolCall) -> str:
        return self._outcome.idempotency_key(call)

    def run(self, tools: ToolFunctions) -> tuple[Answer, ...]:
        """See `Outcome.run`. The functions run in the thread that calls this. Raises TypeError for an async
        function.
        """
        self.keep()
        try:
            functions = tools_for(self.execute, tools)
            for name, tool in functions.items():
                if inspect.iscoroutinefunction(tool.function):
                    raise TypeError(
                        f"{name} is async: run it with hitl_core.Gate. Nothing was run."
                    )
            results = [self._run_one(call, functions[call.name]) for call in self.execute]
            self.finish()
        except BaseException:
            with suppress(GateClosed):
                self.release()
            raise
        return order_answers(self.review, self.answers, results)

    def _run_one(self, call: ToolCall, tool: Tool) -> Answer:
        if not self.once(call):
            return already_started_answer(call)
        try:
            with self.running(call):
                result = run_in_this_thread(self.review, tool, call)
        except Exception as error:
            self.report({call.id: failure_result(self.review, call, error)})
            return failure_answer(call, error)
        self.report({call.id: success_result(result)})
        return success_answer(self.review, call, result)

    def fencing_token(self, call: ToolCall) -> int:
        return self._outcome.fencing_token(call)

    def once(self, call: ToolCall) -> bool:
        return self._run(self._outcome.once(call))

    def running(self, call: ToolCall) -> AbstractContextManager[None]:
        return self._outcome.running(call)

    def hand_over(self) -> tuple[str, ...]:
        return self._run(self._outcome.hand_over())

    def report(self, results: Mapping[str, object]) -> None:
        self._run(self._outcome.report(results))

    def finish(self, results: Mapping[str, object] | None = None) -> None:
        self._run(self._outcome.finish(results))

    def keep(self) -> None:
        self._run(_call(self._outcome.keep))

    def release(self) -> None:
        self._run(_call(self._outcome.release))


def run_in_this_thread(review: Review, tool: Tool, call: ToolCall) -> Any:
    """The tool's result. Raises what it raises, and TypeError for an async function, which did not run."""
    result = tool.bind(review, call)()
    if inspect.isawaitable(result):  # a decorator hid that the function is async
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError(f"{tool.name} is async: use hitl_core.Gate.")
    tool.check_ran(result)
    return result


async def _call(function: Callable[[], T]) -> T:
    return function()
