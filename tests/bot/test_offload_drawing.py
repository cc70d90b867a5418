"""Who draws what is large doesn't hold up the event loop."""

from __future__ import annotations

import threading

import pytest

from bot.offload import MAX_INLINE_ARGS, offload_drawing
from tests.support.builders import call, review_of


@pytest.mark.parametrize(("size", "away"), [(10, False), (MAX_INLINE_ARGS, True)])
async def test_a_large_review_is_drawn_in_a_thread(size: int, away: bool):
    """Given arguments of a size, when they are drawn, then in a thread only where they are large."""
    review, _ = review_of([call(text="x" * size)])

    drawn_in = await offload_drawing(review, threading.current_thread)

    assert (drawn_in is not threading.main_thread()) is away


async def test_what_goes_wrong_in_the_thread_is_raised():
    def failing() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await offload_drawing(review_of([call(text="x" * MAX_INLINE_ARGS)])[0], failing)
