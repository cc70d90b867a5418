"""What a person enters in the Edit form to turn a call's arguments into others: only what changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

Json = dict[str, Any]

#: What an object has under a key that it doesn't have.
_NOTHING = object()


def pointers(view: Json) -> dict[str, Json]:
    """The inputs on this page of the form, by the JSON pointer that each edits and has in its block's id."""
    found: dict[str, Json] = {}
    for block in view["blocks"]:
        if block["type"] == "input" and block["block_id"].startswith("f:"):
            found[block["block_id"].removeprefix("f:").rpartition("#")[0]] = block
    return found


def entries(view: Json, current: Json, wanted: Json) -> dict[str, Any]:
    """By block id, as `Hands.submit` takes them."""
    return {
        block["block_id"]: _entry(block, _at(wanted, pointer))
        for pointer, block in pointers(view).items()
        if not _same(_at(current, pointer), _at(wanted, pointer))
    }


def without_field(seen: Iterable[str], current: Json, wanted: Json) -> list[str]:
    """What changes, and has no field among these pointers."""
    fields = tuple(f"{pointer}/" for pointer in seen)
    return [one[1:] for one in _changed(current, wanted) if not f"{one}/".startswith(fields)]


def _changed(current: Any, wanted: Any, pointer: str = "") -> list[str]:
    if _same(current, wanted):
        return []
    if not (isinstance(current, dict) and isinstance(wanted, dict)):
        return [pointer]
    before, after = cast(Json, current), cast(Json, wanted)
    return [
        changed
        for key in sorted({**before, **after})
        for changed in _changed(
            before.get(key, _NOTHING), after.get(key, _NOTHING), f"{pointer}/{_escaped(key)}"
        )
    ]


def _at(args: Json, pointer: str) -> Any:
    """RFC 6901, through objects: a field for part of a list there is not."""
    value: Any = args
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = cast(Json, value).get(key, _NOTHING) if isinstance(value, dict) else _NOTHING
    return value


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _same(one: Any, other: Any) -> bool:
    if one is _NOTHING or other is _NOTHING:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _entry(block: Mapping[str, Any], value: Any) -> Any:
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
        return None if value is None else json.dumps(value)  # a field of JSON
    if isinstance(value, list) and not any(isinstance(one, dict | list) for one in value):
        return "\n".join(map(_text, cast(list[Any], value)))  # one a line
    return _text(value) or ('""' if block.get("optional") else "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _label(element: Mapping[str, Any], value: Any) -> str | None:
    """The option that stands for it; None clears."""
    groups = element.get("option_groups", [element])
    labels = [option["text"]["text"] for group in groups for option in group["options"]]
    spoken = {True: "Yes", False: "No"}.get(value) if isinstance(value, bool) else value
    return next((one for one in (spoken, json.dumps(value)) if one in labels), None)
