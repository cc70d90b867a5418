"""How many JSON values one turn may have, whoever submits it."""

from __future__ import annotations

import pytest

from hitl_core import ToolCall
from hitl_core.errors import InvalidToolCall
from hitl_core.gate.request import MAX_VALUES, frozen, more_than


def test_promise_10_a_turn_has_so_many_values_and_no_more():
    """Given two calls, each small enough on its own; then together they are refused."""
    half = {"a": [None] * (MAX_VALUES // 2)}

    with pytest.raises(InvalidToolCall, match="100,000 values"):
        frozen([ToolCall("c1", "ask", half), ToolCall("c2", "ask", half)])
    assert frozen([ToolCall("c1", "ask", half)])


@pytest.mark.parametrize("value", [{"a": [None, 1]}, [[], (), {}], [1, "ab", True]])
def test_every_value_counts_once(value: object):
    assert more_than(3, value)
    assert not more_than(4, value)
