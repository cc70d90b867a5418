"""How many JSON values one turn may have, from any client."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from pydantic import ValidationError

from bot.api import Submit, judge_turn
from bot.api.wire import Done
from bot.api.wire.bodies import parse_model
from bot.api.wire.requests import RequestModel
from bot.web import ApiProblem
from hitl_core import ToolCall
from hitl_core.errors import InvalidToolCall
from hitl_core.gate.submission.calls import (
    MAX_VALUES,
    JudgedCalls,
    freeze_calls,
)
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import encode, parsed_has_more_values
from tests.api.client import tool_call
from tests.support.builders import policy


def test_promise_10_a_turn_has_so_many_values_and_no_more():
    """Given two calls, each small enough on its own; then together they are refused."""
    half = {"a": [None] * (MAX_VALUES // 2)}

    with pytest.raises(InvalidToolCall, match="100,000 values"):
        freeze_calls([ToolCall("c1", "ask", half), ToolCall("c2", "ask", half)])
    assert freeze_calls([ToolCall("c1", "ask", half)])


@pytest.mark.parametrize("value", [{"a": [None, 1]}, [[], (), {}], [1, "ab", True]])
def test_every_value_counts_once(value: object):
    assert parsed_has_more_values(value, 3)
    assert not parsed_has_more_values(value, 4)


def test_arguments_are_checked_and_written_once():
    """HTTP d: several times over held the event loop for 128 ms."""
    once = freeze_calls([ToolCall("c1", "ask", {"b": 1, "a": [{}] * 10})])

    review, _ = build_review(
        ReviewKey("agent", "t-1", "1", None), JudgedCalls(once, [policy().judge(once[0])]), 1, 0.0
    )

    assert freeze_calls(once) is once
    assert review.args["1:1"].data is once.encoded_args[0].data
    assert once.encoded_args[0] == encode(once[0].args)


async def test_arguments_are_encoded_once_by_http():
    """Issue 11 §3: given a call over HTTP; then its arguments are written as bytes once."""
    body = {"thread_id": "t-1", "calls": [{"id": "c1", "name": "ask", "args": {"b": 1, "a": 2}}]}
    count = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is encode.__code__

    sys.setprofile(profile)
    try:
        [judged] = await judge_turn(policy(), Submit.model_validate(body))
        judged.build(ReviewKey("agent", "t-1", "1", None), 1, 0.0)
    finally:
        sys.setprofile(None)

    assert count == 1


@pytest.mark.parametrize(
    ("shape", "body"),
    [
        (Submit, {"thread_id": "t", "calls": [tool_call()], "tools": dict.fromkeys(" ab", 1)}),
        (Done, {"results": dict.fromkeys("abc", 1)}),
    ],
)
def test_too_many_wrong_keys_are_one_error(shape: type[RequestModel], body: dict[str, Any]) -> None:
    """Given thousands of wrong keys; then they are counted, and not looked at one by one: that would hold the
    event loop for 60 ms."""
    [name] = body.keys() & {"tools", "results"}
    many = {f"{key}{n}": 1 for key in body[name] for n in range(1_000)}
    with pytest.raises(ValidationError) as caught:
        shape.model_validate({**body, name: many})
    assert caught.value.error_count() == 1
    with pytest.raises(ApiProblem, match="At most"):
        parse_model(shape, {**body, name: many})
