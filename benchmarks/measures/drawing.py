"""The time to draw a card, to open a form and to check its answers. No Redis, no Slack.

The aims are times, so the floor is 1 ms. The last figure is the longest time for which the event loop is
blocked while 256 KiB of arguments are drawn, filled in, checked or decided on, each as the bot does it
(`bot.offload`). All figures are CPU time of this process, so other programs on the machine don't matter.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from statistics import median
from typing import Any

from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from bot.card import build_card
from bot.card.arguments import list_arguments, mask
from bot.channels.slack import (
    MODAL_LIMITS,
    card_message,
    form_view,
    read_entries,
)
from bot.channels.teams import ButtonKey
from bot.channels.teams import card_message as teams_card
from bot.commands import freeze_gc
from bot.forms import EditForm, Entries, FormRef, ReviewForm
from bot.inbox import ActionRef, to_text
from bot.offload import offload_drawing
from hitl_core import Policy, ToolCall
from hitl_core.gate import JudgedCalls, ReviewKey, build_review
from hitl_core.model import DEFAULT_PLACE, Review, Reviewer, encode
from hitl_core.review import Proposal, decide
from slack_sandbox.validation import initial_state

TURN = ReviewKey("bench", "thread", "turn", None)
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
NOW = 1_800_000_000.0
ALICE = Reviewer(channel="slack", team="T0BENCH", id="U0ALICE", name="Alice")
#: The seconds between two turns of another task on the loop.
TICK = 0.002
#: The size of large arguments in bytes: a little less than the limit for one call.
LARGE = 255 * 1024


async def measure(amount: Amount) -> list[Figure]:
    ten, forty = _review(10, _small()), _review(1, _forms(35))
    rounds = _rounds(amount)
    card_time = _median_time(lambda: _message(ten), rounds)
    form_time = _median_time(lambda: _modal(_editing(forty)), rounds)
    values = _state(_modal(_editing(forty)))

    values["f:/field_0#1"]["value"]["value"] = "Hello Bo"

    def check_answers() -> None:
        proposal = _editing(forty).enter(_entries(values)).proposal()
        decide(forty, forty.actions[0].key, proposal, ALICE, NOW)

    check_time = _median_time(check_answers, rounds)
    with _bot_gc():
        longest_block = max([await _longest_block(args) for args in _large()])
    return [
        Figure("a card of ten actions, vs. 1 ms", "ms", card_time, 1.0, 5.0, "lower"),
        Figure("a form of 40 fields, vs. 1 ms", "ms", form_time, 1.0, 5.0, "lower"),
        Figure("checking its answers, vs. 1 ms", "ms", check_time, 1.0, 5.0, "lower"),
        Figure("256 KiB block the loop, vs. 1 ms", "ms", longest_block, 1.0, 50.0, "lower"),
    ]


def measure_teams_card(amount: Amount) -> Figure:
    ten, key = _review(10, _small()), ButtonKey(b"k" * 32)
    card_time = _median_time(
        lambda: teams_card(build_card(ten, DEFAULT_PLACE), str, key), _rounds(amount)
    )
    return Figure("Teams: a card of ten actions, vs. 1 ms", "ms", card_time, 1.0, 5.0, "lower")


def _rounds(amount: Amount) -> int:
    return max(3, amount.rounds * amount.burst // 10)


@contextmanager
def _bot_gc() -> Generator[None, None, None]:
    """With the bot's garbage collector settings: otherwise it would often scan all imported objects."""
    before = gc.get_threshold()
    freeze_gc()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _small() -> dict[str, Any]:
    return {"to": "jo@example.com", "amount": 12.5, "status": "active", "body": "Hello Jo. " * 10}


def _forms(count: int) -> dict[str, Any]:
    """A form with this many arguments; every seventh is an object with two fields."""
    return {f"field_{n}": VALUES[n % len(VALUES)] for n in range(count)}


def _large() -> list[dict[str, Any]]:
    """A long text, one with invisible characters, long lists, many keys, unusual keys, deep nesting."""
    deep: dict[str, Any] = {"text": "x" * (LARGE // 2)}
    for level in range(24):
        deep = {f"level_{level}": deep}
    return [
        {"text": "Hello & <world> " * (LARGE // 16)},
        {"text": "a\u200b" * (LARGE // 4)},
        {"items": [f"item {n}" for n in range(LARGE // 14)]},
        {"items": [[] for _ in range(LARGE // 3)]},
        {f"key_{n}": n for n in range(LARGE // 20)},
        {f"key\u202e{n}": "\u202e" for n in range(LARGE // 24)},
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
    review, _ = build_review(TURN, JudgedCalls(calls, [policy.judge(c) for c in calls]), 1, NOW)
    return review


def _message(review: Review) -> dict[str, Any]:
    return card_message.message(build_card(review, DEFAULT_PLACE), str)


def _editing(review: Review) -> ReviewForm:
    action = review.actions[0]
    ref = FormRef("edit", ActionRef(review.id, action.key, 1))
    return EditForm(review, action, ref, MODAL_LIMITS)


def _modal(form: ReviewForm) -> dict[str, Any]:
    return form_view(form.page())


def _entries(values: dict[str, Any]) -> Entries:
    return read_entries({"state": {"values": values}})


def _state(view: dict[str, Any]) -> dict[str, Any]:
    return initial_state(view["blocks"])


async def _longest_block(args: dict[str, Any]) -> float:
    """The longest time in milliseconds for which the loop was blocked by anything that the bot does with
    these arguments: the median of three rounds.
    """
    review = _review(1, args)
    key = review.actions[0].key
    other = Proposal("edit", 1, args=encode({**args, "more": True}))
    values = _state(_modal(_editing(review)))

    async def everything() -> None:
        card_message.message(
            await offload_drawing(review, lambda: build_card(review, DEFAULT_PLACE)), str
        )
        await offload_drawing(review, lambda: _modal(_editing(review)))
        form = await offload_drawing(review, lambda: _editing(review).enter(_entries(values)))
        await offload_drawing(review, form.proposal)
        await asyncio.sleep(0)
        decide(review, key, other, ALICE, NOW)
        await offload_drawing(
            review,
            lambda: to_text(list_arguments(mask(review.arguments(key).parse(), None))),
        )

    return median([await _longest_pause(everything()) for _ in range(3)])


async def _longest_pause(work: Coroutine[Any, Any, None]) -> float:
    """The longest time, in milliseconds, that another task on the loop had to wait during this work."""
    longest = 0.0

    async def others() -> None:
        nonlocal longest
        while True:
            before = time.process_time()
            await asyncio.sleep(TICK)
            longest = max(longest, (time.process_time() - before) * 1000)

    ticking = asyncio.create_task(others())
    await asyncio.sleep(TICK)
    await work
    await asyncio.sleep(2 * TICK)
    ticking.cancel()
    return longest


def _median_time(work: Callable[[], object], rounds: int) -> float:
    """The median, in milliseconds of CPU time; the first run is a warm-up."""
    times: list[float] = []
    for number in range(rounds + 1):
        start = time.process_time()
        work()
        if number:
            times.append((time.process_time() - start) * 1000)
    return median(times)
