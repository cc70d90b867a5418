"""The values to enter in the Edit form to get the wanted arguments: only those that change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

Json = dict[str, Any]

#: The value of a missing key.
_NOTHING = object()


def inputs_by_pointer(view: Json) -> dict[str, Json]:
    """The inputs on this page of the form, by the JSON pointer in each block's id."""
    inputs: dict[str, Json] = {}
    for block in view["blocks"]:
        if block["type"] == "input" and block["block_id"].startswith("f:"):
            inputs[block["block_id"].removeprefix("f:").rpartition("#")[0]] = block
    return inputs


def form_values(view: Json, current: Json, wanted: Json) -> dict[str, Any]:
    """The values by block id, for `Actor.submit`."""
    return {
        block["block_id"]: _form_value(block, _value_at(wanted, pointer))
        for pointer, block in inputs_by_pointer(view).items()
        if not _is_same(_value_at(current, pointer), _value_at(wanted, pointer))
    }


def missing_fields(form_pointers: Iterable[str], current: Json, wanted: Json) -> list[str]:
    """The pointers of values that change and have no field."""
    fields = tuple(f"{pointer}/" for pointer in form_pointers)
    return [one[1:] for one in _find_changes(current, wanted) if not f"{one}/".startswith(fields)]


def _find_changes(current: Any, wanted: Any, pointer: str = "") -> list[str]:
    if _is_same(current, wanted):
        return []
    if not (isinstance(current, dict) and isinstance(wanted, dict)):
        return [pointer]
    before, after = cast(Json, current), cast(Json, wanted)
    return [
        changed
        for key in sorted({**before, **after})
        for changed in _find_changes(
            before.get(key, _NOTHING), after.get(key, _NOTHING), f"{pointer}/{_escape(key)}"
        )
    ]


def _value_at(args: Json, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901). It goes through objects only, because no field edits a part of
    a list.
    """
    value: Any = args
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = cast(Json, value).get(key, _NOTHING) if isinstance(value, dict) else _NOTHING
    return value


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _is_same(one: Any, other: Any) -> bool:
    if one is _NOTHING or other is _NOTHING:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _form_value(block: Mapping[str, Any], value: Any) -> Any:
    element = block["element"]
    if value is _NOTHING:
        return None
    match element["type"]:
        case "static_select" | "radio_buttons":
            return _label(element, value)
        case "checkboxes" | "multi_static_select":
            return [_label(element, one) for one in value]
        case "datetimepicker":
            return int(datetime.fromisoformat(value).timestamp())
        case _:
            pass
    if value is None or str(element.get("initial_value", "")).startswith(("{", "[")):
        return None if value is None else json.dumps(value)  # a field for JSON
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        return "\n".join(map(_text, cast(list[Any], value)))  # one item per line
    return _text(value) or ('""' if block.get("optional") else "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _label(element: Mapping[str, Any], value: Any) -> str | None:
    """The label of the option for this value; None clears."""
    groups = element.get("option_groups", [element])
    labels = [option["text"]["text"] for group in groups for option in group["options"]]
    text = {True: "Yes", False: "No"}.get(value) if isinstance(value, bool) else value
    return next((one for one in (text, json.dumps(value)) if one in labels), None)
