"""A click on an element of a message or a view: its action in the payload, and the state."""

from __future__ import annotations

from ..json_checks import Json, objects_in
from .blocks import elements_of
from .elements import options_of
from .states import STATE_KEYS, fill_state


class UserError(Exception):
    """The sentence that a person sees when something did not work."""


def read_click(blocks: list[Json], params: Json, before: Json | None = None) -> tuple[Json, Json]:
    """The click as one of the `actions` of a payload (without `action_ts`), and the state. `params` has
    block_id, action_id, value?, option?, state? (what was typed), confirmed? (if the element asks for a
    confirmation). Raises UserError."""
    match = _find_element(blocks, params["block_id"], params["action_id"])
    if match is None:
        raise UserError("This button is no longer there.")
    block, element = match
    if block["type"] == "input" and not block.get("dispatch_action"):
        raise UserError(f"{params['action_id']} sends no clicks: its block has no dispatch_action.")
    if "confirm" in element and not params.get("confirmed"):
        raise UserError(
            f"{params['action_id']} asks for a confirmation: {element['confirm']['title']['text']}"
        )
    try:
        state = fill_state(blocks, params.get("state") or {}, before)
        if element["type"] not in STATE_KEYS:
            fields = _button_fields(element, params.get("value"), params.get("option"))
        else:
            entry = state[params["block_id"]][params["action_id"]]
            if params.get("option") is not None:
                entry |= _option_fields(element, params["option"])
            fields = entry
    except ValueError as error:
        raise UserError(str(error)) from error
    element_ids = {"action_id": element["action_id"], "block_id": params["block_id"]}
    return {"type": element["type"], **element_ids, **fields}, state


def _find_element(blocks: list[Json], block_id: str, action_id: str) -> tuple[Json, Json] | None:
    for block in objects_in(blocks):
        for element in elements_of(block):
            if block["block_id"] == block_id and element.get("action_id") == action_id:
                return block, element
    return None


def _button_fields(element: Json, value: str | None, option: int | None) -> Json:
    """A button, or one line of an overflow menu."""
    if element["type"] != "button":
        return _option_fields(element, option)
    fields = {key: element[key] for key in ("text", "value", "style", "url") if key in element}
    return fields if value is None else {**fields, "value": value}


def _option_fields(element: Json, option: int | list[int] | None) -> Json:
    """The options with these indexes. Raises ValueError if there is no such option."""
    available = options_of(element)
    wanted = [option] if isinstance(option, int) else option or []
    if not all(0 <= one < len(available) for one in wanted):
        raise ValueError(f"{element['action_id']} has no option {option}")
    options = [available[one] for one in wanted]
    if element["type"] in ("checkboxes", "multi_static_select"):
        return {"selected_options": options}
    if len(options) != 1:
        raise ValueError(f"choose one option of {element['action_id']}")
    return {"selected_option": options[0]}
