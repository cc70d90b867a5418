"""Who draws what is large doesn't hold up the event loop."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from bot.offload import MAX_INLINE_ARGS, MAX_INLINE_SCHEMA, offload_drawing
from hitl_core.model import Review
from tests.support.builders import call, policy, review_of

MANY: dict[str, Any] = {"properties": {f"p{n}": {} for n in range(MAX_INLINE_SCHEMA)}}
LARGE: dict[str, Review] = {
    "arguments": review_of([call(text="x" * MAX_INLINE_ARGS)])[0],
    "a schema": review_of([call("wide")], by=policy(wide={"args_schema": MANY}))[0],
    "a tool's schema": review_of()[0].model_copy(update={"tools": {"other": MANY}}),
    "rules": review_of()[0].model_copy(update={"excerpt": "x" * (MAX_INLINE_ARGS + 1)}),
}


async def test_a_small_review_is_drawn_at_once():
    review, _ = review_of([call(text="x" * 10)])
    assert await offload_drawing(review, threading.current_thread) is threading.main_thread()


@pytest.mark.parametrize("what", LARGE)
async def test_attack_a15_a_large_review_is_drawn_in_a_thread(what: str):
    """Given arguments, schemas or rules that are large, when they are drawn, then in a thread."""
    drawn_in = await offload_drawing(LARGE[what], threading.current_thread)
    assert drawn_in is not threading.main_thread()


async def test_what_goes_wrong_in_the_thread_is_raised():
    def failing() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await offload_drawing(LARGE["arguments"], failing)
