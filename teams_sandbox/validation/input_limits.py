"""What is required of a card's input, so that a person can fill it in on every client."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, time

from ..json_checks import Json

LABEL_LENGTH = 200
_TIME = re.compile(r"\d\d:\d\d")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
#: Syntax of Python's regular expressions that JavaScript doesn't have, or reads in another way.
_NOT_IN_JAVASCRIPT = re.compile(r"\(\?P[<=]|\\[AZ]|\(\?[aiLmsux-]+[:)]|\(\?#|\(\?>|[*+?}]\+")


def input_problems(at: str, element: Json) -> Iterator[str]:
    kind = element["type"]
    if not element.get("id"):
        yield f"{at}/id: an input needs an id"
    label = str(element.get("label", ""))
    if not label.strip() and kind != "Input.Toggle":
        yield f"{at}/label: an input needs a label"
    if len(label) > LABEL_LENGTH:
        yield f"{at}/label: {len(label)} characters; {LABEL_LENGTH} are allowed"
    if (element.get("isRequired") or "regex" in element) and not element.get("errorMessage"):
        yield f"{at}/errorMessage: needed, else a person is not told why nothing is sent"
    match kind:
        case "Input.Text":
            yield from _text(at, element)
        case "Input.Number":
            yield from _range(at, element, element.get("min"), element.get("max"))
        case "Input.ChoiceSet":
            yield from _choices(at, element)
        case "Input.Date" | "Input.Time":
            yield from _moment(at, element)
        case "Input.Toggle":
            if element.get("value", "false") not in toggle_values(element):
                yield f"{at}/value: must be the value of on or off"
        case _:
            pass


def toggle_values(element: Json) -> tuple[str, str]:
    """The values that are sent for on and for off."""
    return element.get("valueOn", "true"), element.get("valueOff", "false")


def is_date(text: object) -> bool:
    try:
        return isinstance(text, str) and bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False


def is_time(text: object) -> bool:
    try:
        return isinstance(text, str) and bool(_TIME.fullmatch(text) and time.fromisoformat(text))
    except ValueError:
        return False


def _text(at: str, element: Json) -> Iterator[str]:
    value, most = element.get("value", ""), element.get("maxLength")
    if most is not None and (most < 1 or most != int(most)):
        yield f"{at}/maxLength: must be a whole number of at least 1"
    elif most is not None and utf16_length(value) > most:
        yield f"{at}/value: longer than maxLength"
    if "\n" in value and not element.get("isMultiline"):
        yield f"{at}/value: several lines in an input of one line"
    if element.get("isMultiline") and element.get("style", "text") == "password":
        yield f"{at}/style: a password has one line"
    if (pattern := element.get("regex")) is None:
        return
    try:
        re.compile(pattern)
    except re.error as error:
        yield f"{at}/regex: {error}"
        return
    if _NOT_IN_JAVASCRIPT.search(pattern):
        yield f"{at}/regex: JavaScript doesn't have this: {pattern}"


def utf16_length(text: str) -> int:
    """The length as a browser counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _range(at: str, element: Json, least: float | None, most: float | None) -> Iterator[str]:
    value = element.get("value")
    if least is not None and most is not None and least > most:
        yield f"{at}/min: greater than max"
    if value is not None and (
        (least is not None and value < least) or (most is not None and value > most)
    ):
        yield f"{at}/value: outside of min and max, so a client changes it"


def _choices(at: str, element: Json) -> Iterator[str]:
    values = [choice["value"] for choice in element.get("choices", [])]
    if not values:
        yield f"{at}/choices: must not be empty"
    for n, choice in enumerate(element.get("choices", [])):
        if not choice["title"].strip():
            yield f"{at}/choices/{n}/title: must not be empty"
        if not choice["value"] or "," in choice["value"]:
            yield f"{at}/choices/{n}/value: must not be empty, nor have a comma"
    if len({*values}) < len(values):
        yield f"{at}/choices: two have the same value"
    value = element.get("value", "")
    chosen = value.split(",") if element.get("isMultiSelect") else [value]
    if value and not {*chosen} <= {*values}:
        yield f"{at}/value: {value!r} is no choice"
    if element.get("isMultiSelect") and element.get("style") == "filtered":
        yield f"{at}/style: several can't be chosen in a filtered set"


def _moment(at: str, element: Json) -> Iterator[str]:
    check = is_date if element["type"] == "Input.Date" else is_time
    for key in ("value", "min", "max"):
        if element.get(key) and not check(element[key]):
            yield f"{at}/{key}: {element[key]!r} is not in the form of {element['type']}"
