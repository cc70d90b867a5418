"""The limits of the inputs that people type into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from ..json_checks import (
    Check,
    Json,
    boolean,
    check_then,
    fields,
    integer,
    problem,
    string,
    string_matching,
)
from .elements import TEXT_INPUT_KEYS


def parse_number(value: object) -> Decimal | None:
    """The number in a string, or None if Slack's `number_input` would not accept it."""
    if not isinstance(value, str) or not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", value):
        return None
    try:
        return Decimal(value)
    except InvalidOperation:
        return None


def is_whole(value: Decimal) -> bool:
    return value == value.to_integral_value()


def _number_range(element: Json, at: str) -> Iterator[str]:
    least, most, first = (
        parse_number(element.get(key)) for key in ("min_value", "max_value", "initial_value")
    )
    if least is not None and most is not None and least > most:
        yield problem("min_value must not be greater than max_value", at)
    if first is None:
        return
    if (least is not None and first < least) or (most is not None and first > most):
        yield problem("initial_value must be between min_value and max_value", at)
    if not element["is_decimal_allowed"] and not is_whole(first):
        yield problem("initial_value must be an integer", at)


def _text_range(element: Json, at: str) -> Iterator[str]:
    least, most = element.get("min_length", 0), element.get("max_length", 3000)
    if least > most:
        yield problem("min_length must not be greater than max_length", at)
    if len(element.get("initial_value", "")) > most:
        yield problem("initial_value must not be longer than max_length", at)


NUMERAL = string_matching(
    lambda value: parse_number(value) is not None, "must be a string with a number"
)

TYPED_INPUTS: dict[str, Check] = {
    "plain_text_input": check_then(
        fields(
            {},
            {
                **TEXT_INPUT_KEYS,
                "initial_value": string(3000),
                "multiline": boolean,
                "min_length": integer(0, 3000),
                "max_length": integer(1, 3000),
            },
        ),
        _text_range,
    ),
    "number_input": check_then(
        fields(
            {"is_decimal_allowed": boolean},
            {
                **TEXT_INPUT_KEYS,
                "initial_value": NUMERAL,
                "min_value": NUMERAL,
                "max_value": NUMERAL,
            },
        ),
        _number_range,
    ),
    "email_text_input": fields({}, {**TEXT_INPUT_KEYS, "initial_value": string(3000)}),
    "url_text_input": fields({}, {**TEXT_INPUT_KEYS, "initial_value": string(3000)}),
}
