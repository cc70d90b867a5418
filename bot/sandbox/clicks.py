"""A click on an element of a message or a view: what it says, and the state around it."""

from __future__ import annotations

from bot.sandbox.blocks import elements_of
from bot.sandbox.elements import options_of
from bot.sandbox.shapes import Json, objects
from bot.sandbox.states import STATES, filled_state


class Refused(Exception):
    """What a person sees when something did not work: one sentence."""


def clicked(blocks: list[Json], wish: Json, before: Json | None = None) -> tuple[Json, Json]:
    """What was clicked as one of the `actions` of a payload (without its `action_ts`), and the state.
    `wish` has block_id, action_id, value?, option?, state? (what was typed), confirmed? (where it
    asks first). Raises Refused."""
    found = _find(blocks, wish["block_id"], wish["action_id"])
    if found is None:
        raise Refused("This button is no longer there.")
    block, element = found
    if block["type"] == "input" and not block.get("dispatch_action"):
        raise Refused(f"{wish['action_id']} sends no clicks: its block has no dispatch_action.")
    if "confirm" in element and not wish.get("confirmed"):
        raise Refused(f"{wish['action_id']} asks first: {element['confirm']['title']['text']}")
    try:
        state = filled_state(blocks, wish.get("state") or {}, before)
        if element["type"] not in STATES:
            said = _pressed(element, wish.get("value"), wish.get("option"))
        else:
            entry = state[wish["block_id"]][wish["action_id"]]
            if wish.get("option") is not None:
                entry |= _chosen(element, wish["option"])
            said = entry
    except ValueError as error:
        raise Refused(str(error)) from error
    named = {"action_id": element["action_id"], "block_id": wish["block_id"]}
    return {"type": element["type"], **named, **said}, state


def _find(blocks: list[Json], block_id: str, action_id: str) -> tuple[Json, Json] | None:
    for block in objects(blocks):
        for element in elements_of(block):
            if block["block_id"] == block_id and element.get("action_id") == action_id:
                return block, element
    return None


def _pressed(element: Json, value: str | None, option: int | None) -> Json:
    """A button, or one line of an overflow menu."""
    if element["type"] != "button":
        return _chosen(element, option)
    said = {key: element[key] for key in ("text", "value", "style", "url") if key in element}
    return said if value is None else {**said, "value": value}


def _chosen(element: Json, option: int | list[int] | None) -> Json:
    """The options at these places. Raises ValueError where the element offers none there."""
    offered = options_of(element)
    wanted = [option] if isinstance(option, int) else option or []
    if not all(0 <= one < len(offered) for one in wanted):
        raise ValueError(f"{element['action_id']} has no option {option}")
    options = [offered[one] for one in wanted]
    if element["type"] in ("checkboxes", "multi_static_select"):
        return {"selected_options": options}
    if len(options) != 1:
        raise ValueError(f"choose one option of {element['action_id']}")
    return {"selected_option": options[0]}
