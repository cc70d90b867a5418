"""What a person has filled in: the state of inputs, and what Slack's client checks about it.

A state is `{block_id: {action_id: {"type": ..., <key>: value}}}`, with a key and an empty value
that depend on the type: https://docs.slack.dev/reference/views/view-submission-payloads
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bot.sandbox.blocks import elements_of
from bot.sandbox.elements import options_of
from bot.sandbox.shapes import Json, is_object, objects
from bot.sandbox.typed_inputs import is_whole, number

# type: (key of the state, key of the initial value, the value when nothing is chosen)
STATES: dict[str, tuple[str, str, Any]] = {
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
REQUIRED = "Please complete this required field."


def initial_state(blocks: list[Json]) -> Json:
    """The state of a form that nobody has touched: every input carries its initial value."""
    return filled_state(blocks, {})


def filled_state(blocks: list[Json], typed: Json) -> Json:
    """The state after a person set the inputs in `typed`; the others keep their initial values.
    Raises ValueError for a value that the input could not hold."""
    state: Json = {}
    for block in blocks:
        for element in elements_of(block):
            if element.get("type") in STATES:
                entered = typed.get(block["block_id"], {}).get(element["action_id"])
                state.setdefault(block["block_id"], {})[element["action_id"]] = (
                    _untouched(element) if entered is None else _entered(element, entered)
                )
    return state


def _untouched(element: Json) -> Json:
    key, initial, empty = STATES[element["type"]]
    return {"type": element["type"], key: element.get(initial, empty)}


def _entered(element: Json, entered: Json) -> Json:
    key, _, empty = STATES[element["type"]]
    value = entered.get(key, empty)
    if value in ("", None):
        value = empty
    elif key == "selected_option":
        value = _offered(element, value)
    elif key == "selected_options":
        value = [_offered(element, one) for one in value]
    elif key == "value" and not isinstance(value, str):
        raise ValueError(f"{element['type']} holds text, not {value!r}")
    return {"type": element["type"], key: value}


def _offered(element: Json, chosen: object) -> Json:
    """The option that was chosen, as the element has it: a person can't make up another."""
    for option in options_of(element):
        if is_object(chosen) and option["value"] == chosen.get("value"):
            return option
    raise ValueError(f"{chosen!r} is not an option of {element['action_id']}")


def refused(blocks: list[Json], state: Json) -> dict[str, str]:
    """What Slack's client says beside the fields, by block_id, before it sends anything."""
    found: dict[str, str] = {}
    for block in blocks:
        if block["type"] == "input":
            element = block["element"]
            entry = state[block["block_id"]][element["action_id"]]
            for message in _complaints(block, element, entry[STATES[element["type"]][0]]):
                found.setdefault(block["block_id"], message)
    return found


def _complaints(block: Json, element: Json, value: Any) -> Iterator[str]:
    if value is None or value == []:
        if not block.get("optional"):
            yield REQUIRED
        return
    match element["type"]:
        case "plain_text_input":
            yield from _length(element, value)
        case "number_input":
            yield from _number(element, value)
        case "email_text_input":
            if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", value):
                yield "Please enter a valid email address."
        case "url_text_input":
            if not re.fullmatch(r"https?://[^\s/?#]+\S*", value):
                yield "Please enter a valid URL."
        case "multi_static_select":
            most = element.get("max_selected_items", 100)
            if len(value) > most:
                yield f"Please select no more than {most} items."
        case _:
            return


def _length(element: Json, value: str) -> Iterator[str]:
    least, most = element.get("min_length", 0), element.get("max_length", 3000)
    if len(value) < least:
        yield f"Please enter at least {least} characters."
    if len(value) > most:
        yield f"Please enter no more than {most} characters."


def _number(element: Json, value: str) -> Iterator[str]:
    typed = number(value)
    if typed is None:
        yield "Please enter a valid number."
        return
    least, most = number(element.get("min_value")), number(element.get("max_value"))
    if not element["is_decimal_allowed"] and not is_whole(typed):
        yield "Please enter a whole number."
    if least is not None and typed < least:
        yield f"Please enter a number that is at least {element['min_value']}."
    if most is not None and typed > most:
        yield f"Please enter a number that is at most {element['max_value']}."


def input_ids(blocks: list[Json]) -> set[str]:
    """The blocks that an error of the app may stand beside."""
    return {block["block_id"] for block in blocks if block["type"] == "input"}


def chosen(element: Json, value: str | None, option: int | list[int] | None) -> Json:
    """What a click on this element says, for the `actions` of a payload.
    Raises ValueError where the element offers no such option."""
    kind = element["type"]
    if kind == "button":
        given = value if value is not None else element.get("value")
        return {
            key: one
            for key, one in (
                ("text", element["text"]),
                ("value", given),
                ("style", element.get("style")),
                ("url", element.get("url")),
            )
            if one is not None
        }
    offered = dict(enumerate(options_of(element)))
    wanted = [option] if isinstance(option, int) else option or []
    if not offered or not set(wanted) <= set(offered):
        raise ValueError(f"{element['action_id']} has no option {option}")
    options = [offered[index] for index in wanted]
    if kind in ("checkboxes", "multi_static_select"):
        return {"selected_options": options}
    if len(options) != 1:
        raise ValueError(f"choose one option of {element['action_id']}")
    return {"selected_option": options[0]}


def find(blocks: list[Json], block_id: str, action_id: str) -> tuple[Json, Json] | None:
    """The block and the element that a person pointed at."""
    for block in objects(blocks):
        for element in elements_of(block):
            if block["block_id"] == block_id and element.get("action_id") == action_id:
                return block, element
    return None
