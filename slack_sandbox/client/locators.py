"""Finds the buttons and fields that a script names, and builds the values that it enters."""

from __future__ import annotations

from typing import Any

from ..json_checks import Json, is_list, is_object
from ..validation import STATE_KEYS, elements_of, options_of


class ScriptError(Exception):
    """A script named something that is not there."""


def find_element(
    blocks: list[Json], action_id: str, block_id: str | None, value_startswith: str | None
) -> tuple[Json, Json]:
    """The element, and its block. Raises ScriptError unless there is exactly one."""
    matches = [
        (block, element)
        for block in blocks
        for element in elements_of(block)
        if element.get("action_id") == action_id
        and block_id in (None, block["block_id"])
        and (element.get("value") or "").startswith(value_startswith or "")
    ]
    if len(matches) != 1:
        available = [
            (block["block_id"], element.get("action_id"), element.get("value"))
            for block in blocks
            for element in elements_of(block)
        ]
        raise ScriptError(f"{len(matches)} elements are {action_id!r}; there are {available}")
    return matches[0]


def option_indexes(
    element: Json, option: int | str | list[int] | list[str] | None
) -> int | list[int] | None:
    """The index of an option, from an index or a label; a list gives a list."""
    if isinstance(option, list):
        return [one if isinstance(one, int) else option_index(element, one) for one in option]
    return option_index(element, option) if isinstance(option, str) else option


def option_index(element: Json, label: str) -> int:
    labels = [option["text"]["text"] for option in options_of(element)]
    if label not in labels:
        raise ScriptError(f"no option {label!r} among {labels}")
    return labels.index(label)


def _find_field(blocks: list[Json], name: str) -> Json:
    """The input block with this id, this label, or this part of its id."""
    inputs = [block for block in blocks if block["type"] == "input"]
    for matches in (
        [block for block in inputs if block["block_id"] == name],
        [block for block in inputs if block["label"]["text"] == name],
        [block for block in inputs if name in block["block_id"]],
    ):
        if len(matches) == 1:
            return matches[0]
    available = [(block["block_id"], block["label"]["text"]) for block in inputs]
    raise ScriptError(f"no one field is {name!r}; there are {available}")


def build_state(blocks: list[Json], values: dict[str, Any]) -> Json:
    state: Json = {}
    for name, value in values.items():
        block = _find_field(blocks, name)
        element = block["element"]
        state[block["block_id"]] = {element["action_id"]: state_entry(element, value)}
    return state


def state_entry(element: Json, value: Any) -> Json:
    """The entered value, in the form that Slack's state has for this element."""
    key, _, empty = STATE_KEYS[element["type"]]
    if is_object(value):
        value = value["option"]
    if value is None:
        value = empty
    elif key == "selected_option":
        value = _get_option(element, value)
    elif key == "selected_options":
        value = [_get_option(element, one) for one in value] if is_list(value) else []
    elif key == "value":
        value = str(value)
    return {"type": element["type"], key: value}


def _get_option(element: Json, wanted: Any) -> Json:
    index = option_index(element, wanted) if isinstance(wanted, str) else wanted
    return options_of(element)[index]
