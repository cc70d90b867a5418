"""JSON and numbers that people type: read strictly, and refused with the position of the mistake."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_core.forms.text_values import read_integer, read_json, read_number


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1,\n "a": 2}', 'has the name "a" twice, line 2, column 2'),
        ('{"a": {"b": 1}, "\\u0061": 2}', 'has the name "a" twice, line 1, column 17'),
        ('{"a": NaN}', "NaN is not a number, line 1, column 7"),
        ("[1, -Infinity]", "-Infinity is not a number, line 1, column 5"),
        ("[1e400]", "has a number that is too large, line 1, column 2"),
        ("[0.12345678901234567891]", "too many digits; the nearest"),
        ('["\\ud800"]', "half a surrogate pair"),
        ('{"a": }', "line 1, column 7"),
        ("[" * 100_000, "is nested too deeply"),
        ("1" * 5_000, "too many digits"),
    ],
)
def test_json_that_is_not_plain_is_refused_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r"(?s).*") as refused:
        read_json(text)
    assert sentence in str(refused.value)


def test_the_same_name_may_stand_in_different_objects_and_in_values() -> None:
    text = '{"a": {"a": ["a", {"a": "NaN"}]}, "b": {"a": "\\ud83d\\ude00"}}'
    assert read_json(text) == json.loads(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(json_values, st.sampled_from([None, 2]))
def test_whatever_json_writes_is_read_back_exactly(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert json.dumps(read_json(text), ensure_ascii=False) == json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("text", ["12.0", "abc", "", "1e3", "1_000", "٣", "1,5"])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a whole number"):
        read_integer(text)


def test_whole_numbers_are_exact() -> None:
    assert read_integer(" -9007199254740993 ") == -9007199254740993


@pytest.mark.parametrize(
    ("text", "number"), [("12", "12"), ("12.0", "12.0"), ("1e3", "1000.0"), ("0.1", "0.1"), ("-.5", "-0.5")]
)  # fmt: skip
def test_a_number_is_an_int_unless_a_fraction_or_exponent_was_typed(text: str, number: str) -> None:
    assert repr(read_number(text)) == number


@pytest.mark.parametrize(
    "text", ["1e400", "nan", "Infinity", "0.1000000000000000055", "0x10", "1" * 401]
)
def test_a_number_that_could_not_be_kept_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|digits|large"):
        read_number(text)
