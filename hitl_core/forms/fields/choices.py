"""Fields with options. An answer is the index of an option; the values stay here."""

from __future__ import annotations

import json
from typing import Any, cast

from hitl_core.forms.fast_replace import fast_replace
from hitl_core.forms.field import Kind, Option
from hitl_core.forms.slot import ABSENT, Slot
from hitl_core.jsonschema import Schema, equality_key

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


def _enum_options(schema: Schema) -> list[tuple[str, Any]]:
    values = cast("list[Any]", schema["enum"])
    names: Any = schema.get("x-enumNames", schema.get("enumNames"))
    if isinstance(names, list) and len(cast("list[Any]", names)) == len(values):
        return list(zip(map(str, cast("list[Any]", names)), values, strict=True))
    texts = {value for value in values if isinstance(value, str)}
    return [
        (
            _label(v)
            if isinstance(v, str) or _label(v) not in texts
            else f"{_label(v)} (not text)",
            v,
        )
        for v in values
    ]


def _label(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value[:_MAX_LABEL]
    return json.dumps(value, ensure_ascii=False)[:_MAX_LABEL]


def choice_slot(slot: Slot, choices: list[tuple[str, Any]], kind: Kind = "choice") -> Slot:
    """A field with one choice, or "Not set" if the value may be absent. If the current value is not one of
    the options, it is added as one.
    """
    labels, values = [label for label, _ in choices], [value for _, value in choices]
    at = None if slot.value is ABSENT else _find_index(values, slot.value)
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
    field = fast_replace(slot.field, kind=kind, options=options, initial=initial)
    return fast_replace(slot, field=field, reads="option", values=tuple(values))


def choices_slot(slot: Slot, options: list[tuple[str, Any]], schema: Schema) -> Slot | None:
    """A field with several choices; None if the value is not a list of different options."""
    values = [value for _, value in options]
    index_of = {equality_key(value): at for at, value in reversed(list(enumerate(values)))}
    held = cast("list[Any]", [] if slot.is_empty else slot.value)
    chosen = [index_of.get(equality_key(item)) for item in held[: len(values) + 1]]
    if None in chosen or len(set(chosen)) < len(chosen):
        return None
    least, most = schema.get("minItems"), schema.get("maxItems")
    field = fast_replace(
        slot.field,
        kind="choices",
        options=tuple(Option(label) for label, _ in options),
        initial=",".join(map(str, chosen)) or None,
        min_items=int(least) if least and len(chosen) >= least else None,
        max_items=int(most) if most and len(chosen) <= most else None,
    )
    return fast_replace(slot, field=field, reads="options", values=tuple(values))


def parse_indexes(slot: Slot, answer: str) -> list[int]:
    """The chosen indexes in the order of the options. Raises ValueError for an unknown option."""
    at = sorted({int(n) for n in answer.split(",") if n.isascii() and n.isdecimal()})
    if len(at) != len(answer.split(",")) or at[-1] >= len(slot.values):
        raise ValueError("is not one of the options")
    return at


def read_choices(slot: Slot, answer: str) -> list[Any]:
    """The chosen values. Earlier choices keep their order, new ones follow."""
    at = parse_indexes(slot, answer)
    before = [int(n) for n in (slot.field.initial or "").split(",") if n]
    held = [] if slot.is_empty else cast("list[Any]", slot.value)
    kept = [item for n, item in zip(before, held, strict=True) if n in at]
    return kept + [slot.values[n] for n in at if n not in before]


def _find_index(values: list[Any], value: Any) -> int | None:
    known = equality_key(value)
    return next((at for at, other in enumerate(values) if equality_key(other) == known), None)
