"""Ten tool calls of one turn become a frozen review: verdicts, descriptions, bytes, hashes, id. No Redis.

The aim is 1 ms. A second figure compares the time with LangChain's own middleware, which handles the same
turn until it interrupts, but stores nothing: no bytes, hashes, schemas or id. Two more figures: a policy of
a thousand rules compared with one of fifty, and an agent that sends its tools, as with LangGraph.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from statistics import median
from typing import Any, NoReturn, cast
from unittest import mock

from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from hitl_core import Policy, ToolCall
from hitl_core.gate import ReviewKey, build_review, judge_calls

SCHEMA = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "amount": {"type": "number", "minimum": 0},
        "status": {"enum": ["active", "paused", "closed"]},
    },
    "required": ["to"],
}
#: The rules of the policy repeat these. Every fifth rule is a glob, which matches none of the ten calls.
KINDS: tuple[tuple[str, Any], ...] = (
    ("read_{}", False),
    ("send_{}", True),
    ("update_{}", {"args_schema": SCHEMA, "escalate": [{"after": "10m", "to": "slack:#ops"}]}),
    ("run_{}", {"description": "Look at this first.", "when": {"required": ["to"]}}),
    ("old_{}_*", "deny"),
)
TURN = ReviewKey("bench", "thread", "turn", None)

Work = Callable[[], Awaitable[None]]


async def measure(amount: Amount) -> list[Figure]:
    calls = _calls()
    few, many = _policy(50), _policy(1_000)
    own = [*(call.name for call in calls), *(f"tool_{number}" for number in range(20))]
    tools = {name: {**SCHEMA, "title": name} for name in own}  # no two are equal
    times: dict[str, list[float]] = {"few": [], "many": [], "tools": [], "langchain": []}
    with _langchain(calls) as langchain:
        works = (_review(few, calls), _review(many, calls), _review(few, calls, tools), langchain)
        for number in range(amount.rounds + 1):
            for taken, work in zip(times.values(), works, strict=True):
                seconds = [await _measure_time(work) for _ in range(amount.burst)]
                if number:  # the first run is a warm-up
                    taken += seconds
    of_few, of_many, of_tools, floor = (median(taken) * 1000 for taken in times.values())
    ten = "ten calls to a review"
    return [
        Figure(f"{ten}, 50 rules, vs. 1 ms", "ms", of_few, 1.0, 1.0, "lower"),
        Figure(f"{ten}, of an agent with 30 tools", "ms", of_tools, 1.0, 1.0, "lower"),
        Figure(f"{ten}, vs. LangChain's interrupt", "ms", of_few, floor, None, "lower"),
        Figure(f"{ten}, 1,000 rules vs. 50", "ms", of_many, of_few, 1.5, "lower"),
    ]


def _policy(rules: int) -> Policy:
    """The first rules are the same in every policy, however many follow."""
    each = islice(cycle(KINDS), rules)
    named = {name.format(number): rule for number, (name, rule) in enumerate(each)}
    return Policy.from_mapping({"default": "review", "interrupt_on": named})


def _calls() -> list[ToolCall]:
    """Two calls for each kind of rule with exact names, and two that no rule names."""
    named = ("read_0", "send_1", "update_2", "run_3", "read_5", "send_6", "update_7", "run_8")
    names = (*named, "search", "fetch")
    args = {"to": "jo@example.com", "amount": 12.5, "status": "active", "body": "Hello Jo. " * 10}
    return [ToolCall(f"call-{n}", name, {**args, "n": n}) for n, name in enumerate(names)]


def _review(policy: Policy, calls: list[ToolCall], tools: dict[str, Any] | None = None) -> Work:
    """What a gate does before it uses the store."""

    async def work() -> None:
        judged = await judge_calls(policy, calls, tools=tools)
        review, _ = build_review(TURN, judged, 1, 1_800_000_000.0)
        assert len(review.actions) == 8

    return work


@contextmanager
def _langchain(calls: list[ToolCall]) -> Iterator[Work]:
    """The same turn with the same eight reviews. It stops at the interrupt, which needs a graph."""
    from langchain.agents.middleware import HumanInTheLoopMiddleware, human_in_the_loop
    from langchain_core.messages import AIMessage
    from langgraph.runtime import Runtime

    config = {
        "allowed_decisions": ["approve", "edit", "reject"],
        "description": "Look at this first.",
        "when": lambda tool_request: "to" in tool_request.tool_call["args"],
    }
    asks: Any = {
        call.name: config if call.name.startswith("run_") else not call.name.startswith("read_")
        for call in calls
    }
    middleware = HumanInTheLoopMiddleware(asks)
    turn: list[Any] = [{"id": c.id, "name": c.name, "args": c.args} for c in calls]
    runtime, state = Runtime(), cast(Any, {"messages": [AIMessage("", tool_calls=turn)]})

    async def work() -> None:
        with suppress(_Interrupted):
            middleware.after_model(state, runtime)
            raise RuntimeError("LangChain asked nobody.")

    with mock.patch.object(human_in_the_loop, "interrupt", _interrupt):
        yield work


class _Interrupted(Exception):
    pass


def _interrupt(value: Any) -> NoReturn:
    raise _Interrupted


async def _measure_time(work: Work) -> float:
    """In seconds."""
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start
