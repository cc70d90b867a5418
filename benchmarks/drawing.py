"""What a person waits for when a card is drawn, a form opens or its answers are checked. No Redis, no Slack.

The aims are ones of time, so the floor is 1 ms. The last figure is the longest time for which 256 KiB of
arguments hold the event loop, over all of these steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.amount import Amount
from benchmarks.figure import Figure
from bot.card import card
from bot.channels.slack import blocks
from bot.channels.slack.editing import Editing
from bot.channels.slack.ids import Meta
from bot.click import Target
from bot.sandbox.states import initial_state
from hitl_core import Policy, ToolCall
from hitl_core.gate import request
from hitl_core.model import DEFAULT_PLACE, Review

TURN = request.Turn("bench", "thread", "turn", None)
KINDS: tuple[dict[str, Any], ...] = (
    {"type": "string", "maxLength": 200},
    {"type": "integer", "minimum": 0, "maximum": 999},
    {"type": "boolean"},
    {"enum": ["active", "paused", "closed"]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "string", "format": "date"},
    {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}},
)
VALUES: tuple[Any, ...] = (
    "Hello Jo",
    12,
    True,
    "paused",
    ["a", "b"],
    "2026-11-21",
    {"city": "Riga", "zip": "LV-1010"},
)
#: A little less than what one call may hold.
LARGE = 255 * 1024


async def measure(amount: Amount) -> list[Figure]:
    ten, forty = _review(10, _small()), _review(1, _forms(35))
    rounds = max(3, amount.rounds * amount.burst // 10)
    drawn = _timed(lambda: _message(ten), rounds)
    opened = _timed(lambda: _editing(forty).view(), rounds)
    values = _state(_editing(forty).view())

    def submitted() -> None:
        _editing(forty).with_state(values).proposal()

    checked = _timed(submitted, rounds)
    held = max(step for args in _large() for step in _steps(_review(1, args)))
    return [
        Figure("a card of ten actions, beside 1 ms", "ms", drawn, 1.0, 5.0, "lower"),
        Figure("a form of 40 fields, beside 1 ms", "ms", opened, 1.0, 5.0, "lower"),
        Figure("its answers checked, beside 1 ms", "ms", checked, 1.0, 5.0, "lower"),
        Figure("256 KiB hold the loop, beside 1 ms", "ms", held, 1.0, 50.0, "lower"),
    ]


def _small() -> dict[str, Any]:
    return {"to": "jo@example.com", "amount": 12.5, "status": "active", "body": "Hello Jo. " * 10}


def _forms(count: int) -> dict[str, Any]:
    """So many arguments, of which every seventh is an object of two."""
    return {f"field_{n}": VALUES[n % len(VALUES)] for n in range(count)}


def _large() -> list[dict[str, Any]]:
    """A long text, a long list, many keys, deep nesting."""
    deep: dict[str, Any] = {"text": "x" * (LARGE // 2)}
    for level in range(24):
        deep = {f"level_{level}": deep}
    return [
        {"text": "Hello & <world> " * (LARGE // 16)},
        {"items": [f"item {n}" for n in range(LARGE // 14)]},
        {f"key_{n}": n for n in range(LARGE // 20)},
        deep,
    ]


def _review(count: int, args: dict[str, Any]) -> Review:
    known = {
        key: KINDS[VALUES.index(value)]
        for key, value in args.items()
        if key.startswith("field_") and value in VALUES
    }
    schema = {"type": "object", "properties": known} if known else None
    rule = {"args_schema": schema} if schema else True
    policy = Policy.from_mapping({"default": "review", "interrupt_on": {"tool": rule}})
    calls = [ToolCall(f"call-{n}", "tool", args) for n in range(count)]
    review, _ = request.build(TURN, calls, [policy.judge(c) for c in calls], 1, 1_800_000_000.0)
    return review


def _message(review: Review) -> dict[str, Any]:
    return blocks.message(card(review, DEFAULT_PLACE), str)


def _editing(review: Review) -> Editing:
    action = review.actions[0]
    return Editing(review, action, Meta(Target(review.id, action.key, 1)), {})


def _state(view: dict[str, Any]) -> dict[str, Any]:
    return initial_state(view["blocks"])


def _steps(review: Review) -> list[float]:
    values = _state(_editing(review).view())
    return [
        _timed(lambda: _message(review), 3),
        _timed(lambda: _editing(review), 3),
        _timed(lambda: _editing(review).view(), 3),
        _timed(lambda: _editing(review).with_state(values), 3),
    ]


def _timed(work: Callable[[], object], rounds: int) -> float:
    """The median, in milliseconds; the first one warms up."""
    found: list[float] = []
    for number in range(rounds + 1):
        start = time.perf_counter()
        work()
        if number:
            found.append((time.perf_counter() - start) * 1000)
    return median(found)
