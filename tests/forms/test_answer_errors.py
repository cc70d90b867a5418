"""Answers that are wrong: what is said, and beside which field."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.forms import FormErrors
from tests.forms.reading import read_answers
from tests.forms.test_answers import errors

CUSTOMER = {
    "type": "object",
    "properties": {
        "customerId": {"type": "string", "minLength": 1},
        "status": {"type": "string", "enum": ["active", "closed"]},
        "credit": {"type": "integer", "minimum": 0, "maximum": 500},
        "note": {"type": ["string", "null"]},
        "lines": {"items": {"properties": {"qty": {"type": "integer", "minimum": 1}}}},
    },
    "required": ["customerId", "status"],
}


ARGS: dict[str, Any] = {
    "customerId": "cus_1",
    "status": "active",
    "credit": 5,
    "note": "n",
    "lines": [],
}


@pytest.mark.parametrize(
    ("schema", "answer", "sentence"),
    [
        ({"type": "string", "format": "date"}, "21.11.", "must be a date (YYYY-MM-DD)"),
        ({"type": "string", "format": "time"}, "25:00", "must be a time (HH:MM)"),
        ({"type": "string", "format": "date-time"}, "12", "must be a date and time"),
        ({"type": "string", "format": "email"}, "jo", "is not a valid e-mail address"),
        ({"type": "array", "items": {"enum": ["a"]}}, "0,7", "is not one of the options"),
        ({"type": "number"}, "0.12345678901234567891", "too many digits; the nearest"),
    ],
)
def test_what_an_input_can_not_mean_is_told_beside_it(
    schema: Any, answer: str, sentence: str
) -> None:
    refused = errors({"properties": {"x": schema}}, {}, {"/x": answer})
    assert sentence in refused.fields["/x"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "minLength": 1}, "a"),
        ({"type": "string", "pattern": "^a"}, "a"),
        ({"enum": ["a"]}, "a"),
        ({"type": "integer"}, 1),
        ({"type": "boolean"}, True),
        ({"type": "array"}, []),
        ({"type": "string", "format": "date"}, "2026-11-21"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, ["a"]),
    ],
)
def test_a_cleared_argument_that_must_be_there_is_an_error(schema: Any, value: Any) -> None:
    whole = {"properties": {"x": schema}, "required": ["x"]}
    assert errors(whole, {"x": value}, {"/x": None}).fields == {"/x": "is required"}


def test_all_errors_are_shown_at_their_fields_at_once() -> None:
    refused = errors(
        CUSTOMER,
        ARGS,
        {"/customerId": None, "/status": None, "/credit": "900", "/lines": '[{"qty": 0}]'},
    )
    assert refused.fields == {
        "/customerId": "is required",
        "/status": "is required",
        "/credit": "must be at most 500",
        "/lines": "[0].qty must be at least 1",
    }
    assert refused.top == ()


def test_an_answer_that_is_no_value_does_not_hide_the_others() -> None:
    refused = errors(CUSTOMER, ARGS, {"/credit": "12.0", "/customerId": "", "/status": "7"})
    assert refused.fields == {
        "/credit": "must be a whole number",
        "/customerId": "is required",
        "/status": "is not one of the options",
    }


def test_errors_without_a_field_are_sentences_at_the_top() -> None:
    schema = {"properties": {"a": {"type": "integer", "readOnly": True}}, "minProperties": 2}
    found = errors(schema, {"a": "x"}, {})
    assert found.fields == {"/a": "must be a whole number"}
    assert found.top == ("Must have at least 2 entries",)


def test_a_locked_value_stays_whatever_is_answered() -> None:
    schema = {"properties": {"a": {"type": "string", "readOnly": True}, "b": {"const": 1}}}
    assert read_answers(schema, {"a": "x", "b": 1}, {"/a": "y", "/b": None}) == {"a": "x", "b": 1}
    long = {"a": "x" * 20}
    assert read_answers(None, long, {"/a": "x" * 10}, max_text=10) == long


def test_an_answer_longer_than_an_input_is_refused() -> None:
    with pytest.raises(FormErrors, match="at most 10 characters"):
        read_answers(None, {"a": "x"}, {"/a": "x" * 11}, max_text=10)
