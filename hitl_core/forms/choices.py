"""Inputs with options: which values a schema offers, their labels, and the slot of a choice."""

from __future__ import annotations

import json
from typing import Any, cast

from hitl_core.forms.field import ABSENT, Kind, Option, Slot
from hitl_core.jsonschema import Schema, equality_key, find_equal

NOT_SET = "Not set"
YES_NO: list[tuple[str, Any]] = [("Yes", True), ("No", False)]
_MAX_LABEL = 300


def list_options(schema: Schema) -> list[tuple[str, Any]]:
    """The labels and values of `const`, `enum`, or of `oneOf`/`anyOf` with only constants; [] if there are
    none.
    """
    if "const" in schema:
        return [(_label(schema["const"]), schema["const"])]
    if "enum" in schema:
        return _enum_options(schema)
    branches = cast("list[Any]", schema.get("oneOf") or schema.get("anyOf") or [])
    if not all(isinstance(branch, dict) and "const" in branch for branch in branches):
        return []
    return [(str(b.get("title") or _label(b["const"])), b["const"]) for b in branches]


def name_values(options: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The same options; a label that is not the value itself shows the value too."""
    written = ((label, _label(value), value) for label, value in options)
    return [(name if name == raw else f"{name} → {raw}", value) for name, raw, value in written]


def _enum_options(schema: Schema) -> list[tuple[str, Any]]:
    values = cast("list[Any]", schema["enum"])
    names: Any = schema.get("x-enumNames", schema.get("enumNames"))
    if isinstance(names, list) and len(cast("list[Any]", names)) == len(values):
        return list(zip(map(str, cast("list[Any]", names)), values, strict=True))
    texts = {value for value in values if isinstance(value, str)}
    labels = ((v, _label(v)) for v in values)
    return [
        (f"{label} (not text)" if not isinstance(v, str) and label in texts else label, v)
        for v, label in labels
    ]


def _label(value: Any) -> str:
    if isinstance(value, str) and value.strip() not in ("", NOT_SET):
        return value[:_MAX_LABEL]
    return json.dumps(value, ensure_ascii=False)[:_MAX_LABEL]


def choice_slot(slot: Slot, choices: list[tuple[str, Any]], kind: Kind = "choice") -> Slot:
    """A field with one choice, or "Not set" if the value may be absent. If the current value is not one of
    the options, it is added as one.
    """
    labels, values = [label for label, _ in choices], [value for _, value in choices]
    at = None if slot.value is ABSENT else find_equal(values, slot.value)
    if at is None and not slot.is_empty:
        at = len(values)
        labels.append(f"{_label(slot.value)} (now, not allowed)")
        values.append(slot.value)
    if slot.on_clear in ("leave", "null"):
        at = len(values) if at is None else at
        labels.append(NOT_SET)
        values.append(ABSENT)
    initial = None if at is None else str(at)
    options = tuple(Option(label) for label in labels)
    field = slot.field._replace(kind=kind, options=options, initial=initial)
    return slot._replace(field=field, reads="option", values=tuple(values))


def choices_slot(slot: Slot, options: list[tuple[str, Any]], schema: Schema) -> Slot | None:
    """A field with several choices; None if the value is not a list of different options."""
    values = [value for _, value in options]
    index_of = {equality_key(value): at for at, value in reversed(list(enumerate(values)))}
    held = cast("list[Any]", [] if slot.is_empty else slot.value)
    chosen = [index_of.get(equality_key(item)) for item in held[: len(values) + 1]]
    if None in chosen or len(set(chosen)) < len(chosen):
        return None
    least, most = schema.get("minItems"), schema.get("maxItems")
    field = slot.field._replace(
        kind="choices",
        options=tuple(Option(label) for label, _ in options),
        initial=",".join(map(str, chosen)) or None,
        min_items=int(least) if least and len(chosen) >= least else None,
        max_items=int(most) if most and len(chosen) <= most else None,
    )
    return slot._replace(field=field, reads="options", values=tuple(values))
