"""The checks that Slack's client makes on the inputs of a view before it sends them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..json_checks import Json
from .states import STATE_KEYS
from .typed_inputs import is_whole, parse_number

REQUIRED = "Please complete this required field."


def client_errors(blocks: list[Json], state: Json) -> dict[str, str]:
    """The errors that Slack's client shows beside the fields, by block_id."""
    errors: dict[str, str] = {}
    for block in blocks:
        if block["type"] == "input":
            element = block["element"]
            entry = state[block["block_id"]][element["action_id"]]
            for message in _input_errors(block, element, entry[STATE_KEYS[element["type"]][0]]):
                errors.setdefault(block["block_id"], message)
    return errors


def _input_errors(block: Json, element: Json, value: Any) -> Iterator[str]:
    if value is None or value == []:
        if not block.get("optional"):
            yield REQUIRED
        return
    match element["type"]:
        case "plain_text_input":
            yield from _length_errors(element, value)
        case "number_input":
            yield from _number_errors(element, value)
        case "email_text_input":
            if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", value):
                yield "Please enter a valid email address."
        case "url_text_input":
            if not re.fullmatch(r"https?://[^\s/?#]+\S*", value):
                yield "Please enter a valid URL."
        case _:
            most = element.get("max_selected_items")
            if most is not None and len(value) > most:
                yield f"Please select no more than {most} items."


def _length_errors(element: Json, value: str) -> Iterator[str]:
    least, most = element.get("min_length", 0), element.get("max_length", 3000)
    if len(value) < least:
        yield f"Please enter at least {least} characters."
    if len(value) > most:
        yield f"Please enter no more than {most} characters."


def _number_errors(element: Json, value: str) -> Iterator[str]:
    typed = parse_number(value)
    if typed is None:
        yield "Please enter a valid number."
        return
    least, most = parse_number(element.get("min_value")), parse_number(element.get("max_value"))
    if not element["is_decimal_allowed"] and not is_whole(typed):
        yield "Please enter a whole number."
    if least is not None and typed < least:
        yield f"Please enter a number that is at least {element['min_value']}."
    if most is not None and typed > most:
        yield f"Please enter a number that is at most {element['max_value']}."


def input_ids(blocks: list[Json]) -> set[str]:
    """The ids of the blocks for which the app may return an error."""
    return {block["block_id"] for block in blocks if block["type"] == "input"}
