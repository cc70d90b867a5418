"""How many JSON values one turn may have, whoever submits it."""

from __future__ import annotations

import pytest

from hitl_core import ToolCall
from hitl_core.errors import InvalidToolCall
from hitl_core.gate.submission.calls import (
    MAX_VALUES,
    JudgedCalls,
    contains_more_values,
    freeze_calls,
)
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import encode
from tests.support.builders import policy


def test_promise_10_a_turn_has_so_many_values_and_no_more():
    """Given two calls, each small enough on its own; then together they are refused."""
    half = {"a": [None] * (MAX_VALUES // 2)}

    with pytest.raises(InvalidToolCall, match="100,000 values"):
        freeze_calls([ToolCall("c1", "ask", half), ToolCall("c2", "ask", half)])
    assert freeze_calls([ToolCall("c1", "ask", half)])


@pytest.mark.parametrize("value", [{"a": [None, 1]}, [[], (), {}], [1, "ab", True]])
def test_every_value_counts_once(value: object):
    assert contains_more_values(3, value)
    assert not contains_more_values(4, value)


def test_arguments_are_checked_and_written_once():
    """Door d: several times over held the event loop for 128 ms."""
    once = freeze_calls([ToolCall("c1", "ask", {"b": 1, "a": [{}] * 10})])

    review, _ = build_review(
        ReviewKey("agent", "t-1", "1", None), JudgedCalls(once, [policy().judge(once[0])]), 1, 0.0
    )

    assert freeze_calls(once) is once
    assert review.args["1:1"].data is once.encoded_args[0].data
    assert once.encoded_args[0] == encode(once[0].args)
