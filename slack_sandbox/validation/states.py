"""The state of the inputs of a message or a view: what a person has filled in.

A state is `{block_id: {action_id: {"type": ..., <key>: value}}}`, with a key and an empty value
that depend on the type: https://docs.slack.dev/reference/views/view-submission-payloads
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..json_checks import Json, is_list, is_object
from .blocks import elements_of
from .elements import is_date, is_time, options_of

# type: (key of the state, key of the initial value, the value when nothing is chosen)
STATE_KEYS: dict[str, tuple[str, str, Any]] = {
    "plain_text_input": ("value", "initial_value", None),
    "number_input": ("value", "initial_value", None),
    "email_text_input": ("value", "initial_value", None),
    "url_text_input": ("value", "initial_value", None),
    "rich_text_input": ("rich_text_value", "initial_value", None),
    "static_select": ("selected_option", "initial_option", None),
    "external_select": ("selected_option", "initial_option", None),
    "radio_buttons": ("selected_option", "initial_option", None),
    "checkboxes": ("selected_options", "initial_options", []),
    "multi_static_select": ("selected_options", "initial_options", []),
    "users_select": ("selected_user", "initial_user", None),
    "multi_users_select": ("selected_users", "initial_users", []),
    "conversations_select": ("selected_conversation", "initial_conversation", None),
    "multi_conversations_select": ("selected_conversations", "initial_conversations", []),
    "channels_select": ("selected_channel", "initial_channel", None),
    "multi_channels_select": ("selected_channels", "initial_channels", []),
    "datepicker": ("selected_date", "initial_date", None),
    "timepicker": ("selected_time", "initial_time", None),
    "datetimepicker": ("selected_date_time", "initial_date_time", None),
    "file_input": ("files", "", []),
}


def initial_state(blocks: list[Json]) -> Json:
    """The state of a new form: every input has its initial value."""
    return fill_state(blocks, {})


def fill_state(blocks: list[Json], typed: Json, before: Json | None = None) -> Json:
    """The state after a person set the inputs in `typed`. Others keep their value from `before`; new
    ones have their initial values. Raises ValueError for a value that the input can't have."""
    state: Json = {}
    for block_id, element in _stateful_elements(blocks):
        entry = typed.get(block_id, {}).get(element["action_id"])
        state.setdefault(block_id, {})[element["action_id"]] = (
            _keep_or_initial(element, block_id, before or {})
            if entry is None
            else _build_entry(element, entry)
        )
    return state


def _stateful_elements(blocks: list[Json]) -> Iterator[tuple[str, Json]]:
    for block in blocks:
        for element in elements_of(block):
            if element.get("type") in STATE_KEYS:
                yield block["block_id"], element


def _keep_or_initial(element: Json, block_id: str, before: Json) -> Json:
    """An input of an updated view keeps its value if its ids and its type are the same and the value is
    still possible. https://docs.slack.dev/reference/views/modal-views"""
    previous = before.get(block_id, {}).get(element["action_id"])
    if previous is not None and previous["type"] == element["type"]:
        try:
            return _build_entry(element, previous)
        except ValueError:
            pass
    key, initial, empty = STATE_KEYS[element["type"]]
    return _build_entry(element, {key: element.get(initial, empty)})


def _build_entry(element: Json, entry: Json) -> Json:
    key, _, empty = STATE_KEYS[element["type"]]
    value = entry.get(key, empty)
    if value in ("", None):
        value = empty
    elif key == "value":
        value = _text(element, value)
    elif key == "selected_option":
        value = _find_option(element, value)
    elif key == "selected_options":
        value = [_find_option(element, one) for one in value]
    elif not _can_hold(key, value):
        raise ValueError(f"{element['type']} can't hold {value!r}")
    return {"type": element["type"], key: value}


def _text(element: Json, value: object) -> str | None:
    """Text as a browser's field holds it: one line, or several separated by `\\n`."""
    if not isinstance(value, str):
        raise ValueError(f"{element['type']} holds text, not {value!r}")
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    if not element.get("multiline"):
        lines = lines.replace("\n", "")
    if element["type"] in ("email_text_input", "url_text_input"):
        lines = lines.strip()
    return lines or None


def _find_option(element: Json, selected: object) -> Json:
    """The chosen one of the element's own options, because a person can't send any other."""
    if element["type"] == "external_select" and is_object(selected):
        return selected
    for option in options_of(element):
        if is_object(selected) and option["value"] == selected.get("value"):
            return option
    raise ValueError(f"{selected!r} is not an option of {element['action_id']}")


def _can_hold(key: str, value: object) -> bool:
    match key:
        case "selected_date":
            return isinstance(value, str) and is_date(value)
        case "selected_time":
            return isinstance(value, str) and is_time(value)
        case "selected_date_time":
            return type(value) is int and 1_000_000_000 <= value <= 9_999_999_999
        case "selected_user" | "selected_conversation" | "selected_channel":
            return isinstance(value, str)
        case "selected_users" | "selected_conversations" | "selected_channels":
            return is_list(value) and all(isinstance(one, str) for one in value)
        case _:
            return True
