"""All steps of a click take less than Slack waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import get_args

import pytest

from bot import click_budget

#: Limits within other steps, or beside them.
PARTS = {"load", "lookup", "post_record", "loading_view"}


@pytest.fixture(autouse=True)
def _slacks_own_time() -> Iterator[None]:
    yield
    click_budget.set_click_seconds(click_budget.CLICK_SECONDS)


@pytest.mark.parametrize("kind", click_budget.CLICKS)
def test_the_steps_of_a_click_are_shorter_than_slacks_3_s(kind: str) -> None:
    steps = click_budget.CLICKS[kind]
    assert sum(click_budget.SECONDS[step] for step in steps) < click_budget.ANSWER_SECONDS
    assert click_budget.ANSWER_SECONDS < click_budget.CLICK_SECONDS


def test_every_step_has_a_limit_and_belongs_to_a_click() -> None:
    used = {step for steps in click_budget.CLICKS.values() for step in steps}
    assert set(click_budget.SECONDS) == set(get_args(click_budget.Step)) == used | PARTS


@pytest.mark.parametrize("total", [3.0, 12.0])
async def test_no_step_is_longer_than_its_click(total: float) -> None:
    """Given a click whose steps took nearly all of its time, then the next step gets only what is left."""
    click_budget.set_click_seconds(total)
    begin = asyncio.get_running_loop().time()
    click_budget.start()

    ends = [click_budget.timeout(step).when() for step in click_budget.SECONDS]

    limit = asyncio.get_running_loop().time() + click_budget.ANSWER_SECONDS * total / 3
    assert all(end is not None and begin < end <= limit for end in ends)


async def test_a_step_after_the_end_of_its_click_gets_no_time() -> None:
    click_budget.set_click_seconds(0.0)
    click_budget.start()
    with pytest.raises(TimeoutError):
        async with click_budget.timeout("respond"):
            await asyncio.Event().wait()
