"""New input for a thread that waits for people: its reviews are cancelled, and their calls get answers,
because models reject a conversation with an unanswered call.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.types import PregelTask, StateSnapshot

from hitl_core.gate import Gate, Outcome
from hitl_core.integrations.langgraph.graph import Json, last_ai_message, messages_of

#: The reason on the cards and for the model.
REASON = "The user wrote something new."


@asynccontextmanager
async def hold_withdrawal(
    gate: Gate, review_ids: Iterable[str]
) -> AsyncGenerator[list[Outcome], None]:
    """Cancel and claim these reviews while the new input is saved. Then they are done. If saving fails, a
    process in `serve` continues the run when their lease ends, as after a crash. Raises Refused if one of
    them is already decided.
    """
    async with AsyncExitStack() as stack:
        outcomes: list[Outcome] = []
        for review_id in review_ids:
            outcomes.append(outcome := await gate.withdraw(review_id, REASON))
            stack.callback(outcome.release)
        yield outcomes
        for outcome in outcomes:
            await outcome.finish()


def add_answers(
    input: Mapping[str, Any], state: StateSnapshot, outcomes: Iterable[Outcome]
) -> Mapping[str, Any]:
    """The new input, with an answer to each unanswered call of the last AI message before it. The result of
    a call that ran is kept; LangGraph would drop it. Pure.
    """
    answers = list(_missing_answers(state, outcomes))
    if not answers:
        return input
    new = input.get("messages", [])
    messages = cast(list[Any], new) if isinstance(new, list) else [new]
    return {**input, "messages": [*answers, *messages]}


def _missing_answers(state: StateSnapshot, outcomes: Iterable[Outcome]) -> Iterator[ToolMessage]:
    messages = messages_of(state.values)
    message = last_ai_message(messages)
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    results = {m.tool_call_id: m for task in state.tasks for m in _results(task)}
    contents = {answer.tool_call_id: answer.content for each in outcomes for answer in each.answers}
    for call in message.tool_calls if message else ():
        id, name = str(call["id"]), call["name"]
        if id in results:
            yield results[id]
        elif id not in answered:
            stop_text = f"`{name}` was stopped before it ended. {REASON}"
            text = contents.get(id, stop_text)
            yield ToolMessage(content=text, name=name, tool_call_id=id, status="error")


def _results(task: PregelTask) -> Iterator[ToolMessage]:
    """The results of tools that ended while other tools of the same turn wait."""
    result: Any = task.result
    messages: Iterable[AnyMessage] = messages_of(cast(Json, result))
    yield from (message for message in messages if isinstance(message, ToolMessage))
