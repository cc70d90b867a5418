"""What a client of Teams lets a person submit, and the values that it sends: always strings.

Sources: https://learn.microsoft.com/adaptive-cards/authoring-cards/input-validation, and the code of the
renderer `adaptivecards` 3.0.6. Numbers outside their limits are changed to the limit, as Teams does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal

from ..json_checks import Json, is_list
from .input_limits import is_date, is_time, toggle_values, utf16_length
from .walk import elements_in, inputs_in

#: What a person enters in an input: the typed text or the chosen value (a list if several can be chosen).
#: None clears it.
Entry = str | bool | list[str] | None


class InputError(Exception):
    """The client keeps the card and sends nothing. `errors`: input id → the text beside the input."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in errors.items()))
        self.errors = dict(errors)


def check_inputs(card: Json, entries: Mapping[str, Entry]) -> dict[str, str]:
    """What the client sends for the card's inputs after a person made these entries, by input id. Other
    inputs keep their values. Raises InputError if the client would send nothing, and ValueError for an entry
    that no client lets a person make."""
    inputs = {element["id"]: element for _, element in inputs_in(card)}
    if unknown := entries.keys() - inputs.keys():
        raise ValueError(f"there is no input {', '.join(sorted(unknown))}; there are {[*inputs]}")
    sent: dict[str, str] = {}
    errors: dict[str, str] = {}
    for name, element in inputs.items():
        value = _enter(element, entries[name]) if name in entries else _initial(element)
        if _is_refused(element, value):
            errors[name] = element.get("errorMessage", "")
        elif value is not None:
            sent[name] = value
    if errors:
        raise InputError(errors)
    return sent


def read_press(card: Json, action: Json, entries: Mapping[str, Entry]) -> Json:
    """The data of an Action.Execute after a person made these entries: its own data, and the inputs, which
    win where a name is in both. Raises as `check_inputs`, and ValueError if the card has no such action."""
    if not any(element is action or element == action for _, element in elements_in(card)):
        raise ValueError("the card has no such action")
    if action.get("associatedInputs", "auto").lower() == "none":
        return dict(action.get("data", {}))
    return {**action.get("data", {}), **check_inputs(card, entries)}


def _initial(element: Json) -> str | None:
    value = element.get("value")
    match element["type"]:
        case "Input.Toggle":
            return value if value is not None else toggle_values(element)[1]
        case "Input.Number":
            return None if value is None else _number_text(float(value))
        case "Input.Text":
            return value or ""
        case "Input.ChoiceSet":
            return value or ("" if element.get("isMultiSelect") else None)
        case _:
            return value or None


def _enter(element: Json, entry: Entry) -> str | None:
    """The input's value. Raises ValueError if a person can't do this."""
    match element["type"]:
        case "Input.Text":
            return _enter_text(element, _require_text(element, entry))
        case "Input.Number":
            return _enter_number(element, _require_text(element, entry))
        case "Input.Toggle":
            if not isinstance(entry, bool):
                raise ValueError(f"{element['id']}: a toggle is True or False, not {entry!r}")
            return toggle_values(element)[0 if entry else 1]
        case "Input.ChoiceSet":
            return _choose(element, entry)
        case "Input.Date":
            return _pick(element, _require_text(element, entry), is_date(entry))
        case _:
            return _pick(element, _require_text(element, entry), is_time(entry))


def _require_text(element: Json, entry: Entry) -> str:
    if entry is not None and not isinstance(entry, str):
        raise ValueError(f"{element['id']}: a person types text here, not {entry!r}")
    return entry or ""


def _enter_text(element: Json, text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not element.get("isMultiline"):
        text = text.replace("\n", "")
    most = element.get("maxLength")
    if most is not None and utf16_length(text) > most:
        raise ValueError(f"{element['id']}: only {most} characters can be typed")
    return text


def _enter_number(element: Json, text: str) -> str | None:
    if not text:
        return None
    if not re.fullmatch(r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        raise ValueError(f"{element['id']}: only a number can be typed, not {text!r}")
    number = float(text)
    if math.isinf(number):
        return None  # as a browser's number field does
    least, most = element.get("min", -math.inf), element.get("max", math.inf)
    return _number_text(float(min(max(number, least), most)))


def _number_text(number: float) -> str:
    """The number as JavaScript writes it, because clients use doubles."""
    number += 0.0  # -0.0 is "0"
    if number and not 1e-6 <= abs(number) < 1e21:
        digits, _, exponent = f"{number!r}".partition("e")
        return f"{digits.removesuffix('.0')}e{int(exponent or 0):+d}"
    text = f"{Decimal(repr(number)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _choose(element: Json, entry: Entry) -> str | None:
    values = [choice["value"] for choice in element["choices"]]
    several = bool(element.get("isMultiSelect"))
    if entry is None:
        return "" if several else None
    chosen: list[str] = entry if is_list(entry) else [str(entry)]
    if several is not is_list(entry) or not {*chosen} <= {*values}:
        raise ValueError(f"{element['id']}: {entry!r} can't be chosen among {values}")
    return ",".join(value for value in values if value in chosen)


def _pick(element: Json, text: str, is_valid: bool) -> str | None:
    if text and not is_valid:
        raise ValueError(f"{element['id']}: {text!r} can't be picked")
    return text or None


def _is_refused(element: Json, value: str | None) -> bool:
    kind = element["type"]
    if element.get("isRequired"):
        missing = toggle_values(element)[1] if kind == "Input.Toggle" else ""
        if value in (None, "", missing):
            return True
    if not value:
        return False
    if kind == "Input.Text" and (pattern := element.get("regex")) is not None:
        return re.search(pattern, value, re.ASCII) is None
    if kind in ("Input.Date", "Input.Time"):
        return value < (element.get("min") or value) or value > (element.get("max") or value)
    return False
