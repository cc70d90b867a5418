"""The lines of a thread: what was told once stays, whatever happens later."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bot.card import thread_lines
from hitl_core.errors import Refused
from hitl_core.model import Place, Review
from hitl_core.policy import Policy
from hitl_core.review import delivery_problems, escalation
from hitl_core.review.decisions import decide
from tests.support.builders import START, call, person, proposal, review_of

PLACES = [Place(f"slack:#{name}") for name in "pqr"]


def rule(least: int, at: int) -> dict[str, Any]:
    """Calls with at least this amount are shown at one place, and escalate to the next one."""
    amounts = {"properties": {"x": {"type": "integer", "minimum": least}}, "required": ["x"]}
    here, following, last = (PLACES[(at + step) % 3] for step in range(3))
    return {
        **({"when": amounts} if least else {}),
        "notify": here,
        "escalate": [{"after": "10s", "to": following}],
        "remind": "7s",
        "fallback": last,
        "reviewers": {"channel_members": True, "quorum": 2},
    }


POLICY = Policy.from_mapping(
    {"default": "review", "interrupt_on": {"it": rule(100, 0), "i*": rule(50, 1), "*": rule(0, 2)}}
)


def change(review: Review, chance: random.Random, now: float, number: int) -> Review:
    """Something that may happen to it. Raises Refused if it may not now."""
    place, action = chance.choice(PLACES), chance.choice(review.actions)
    match chance.choice(["edit", "due", "due", "escalate", "fallback"]):
        case "edit":
            edited = proposal("edit", action.revision, x=chance.choice([1, 60, 200]) + number)
            return decide(review, action.key, edited, person(f"P{number}"), now).review
        case "escalate":
            return escalation.escalate(review, place, person(), now).review
        case "fallback":
            return delivery_problems.use_fallback(review, place, "gone", now).review
        case _:
            return escalation.apply_due(review, now).review


@pytest.mark.parametrize("seed", range(20))
def test_a_line_keeps_its_key_and_no_earlier_one_comes(seed: int) -> None:
    """Given calls that edits and fallbacks move between three places, and back; then a line that was told at
    a place stays what it was, and what happened elsewhere meanwhile is not told there later."""
    chance, now = random.Random(seed), START
    calls = [call("it", f"c{number}", x=chance.choice([1, 60, 200])) for number in range(3)]
    review, _ = review_of(calls, by=POLICY)
    told: dict[Place, list[str]] = {place: [] for place in PLACES}
    for number in range(40):
        now += chance.choice([1, 3, 8, 12])
        try:
            review = change(review, chance, now, number)
        except Refused:
            continue
        for place, before in told.items():
            keys = [line.key for line in thread_lines(review, place)]
            assert len({*keys}) == len(keys)
            assert keys[: len(before)] == before
            told[place] = keys
    assert all(told.values())
