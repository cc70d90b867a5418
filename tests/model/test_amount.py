"""The number of values in a JSON text, counted before the text is parsed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hitl_core.errors import InvalidToolCall
from hitl_core.model import decode
from hitl_core.model.strict_json import unparsed_has_more_values

VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(some.sampled_from('a,[{}]:"\\')),
    lambda inside: (
        some.lists(inside) | some.dictionaries(some.text(some.sampled_from(',["\\')), inside)
    ),
    max_leaves=30,
)


def count(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(count, inside))


@given(VALUES, some.integers(1, 40), some.booleans())
def test_more_values_than_allowed_are_always_found(value: Any, most: int, spaced: bool) -> None:
    """slack-clients 7: given any JSON; then what has more values than allowed is found, whatever its texts
    contain; commas in a text don't count."""
    data = json.dumps(value, indent=1 if spaced else None).encode()
    if count(value) > most:
        assert unparsed_has_more_values(data, most)
    assert not unparsed_has_more_values(data, 2 * count(value) + 1)


def test_a_number_may_have_so_many_digits() -> None:
    """Given a number that takes long to read; then it is refused before it is read."""
    assert decode('{"a": ' + "1" * 400 + "}")["a"] > 0
    with pytest.raises(InvalidToolCall, match="digits"):
        decode('{"a": ' + "1" * 401 + "}")
