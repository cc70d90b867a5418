"""The branches of a value (`oneOf`, `anyOf`), and the field that chooses one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from hitl_core.forms.choices import NOT_SET, list_options
from hitl_core.forms.field import ABSENT, Option, Slot
from hitl_core.jsonschema import CannotFlatten, Schema, SchemaFlattener, equality_key

_TYPE_LABELS = {
    "string": "Text",
    "integer": "Whole number",
    "number": "Number",
    "boolean": "Yes or no",
    "object": "Object",
    "array": "List",
    "null": "Null",
}
_MAX_BRANCHES = 100


@dataclass(frozen=True)
class Branch:
    """One branch. `constants` are its properties with only one possible value. `discriminator` is the
    property whose value tells the branches apart.
    """

    label: str
    schema: Schema
    constants: dict[str, Any]
    discriminator: str | None

    @property
    def properties(self) -> dict[str, Any]:
        return self.schema.get("properties", {})


def branch_slot(slot: Slot, branches: tuple[Branch, ...], current: int | None) -> Slot:
    labels = [branch.label for branch in branches]
    values: list[Any] = list(range(len(branches)))
    if slot.on_clear in ("leave", "null"):
        labels.append(NOT_SET)
        values.append(ABSENT)
        current = len(branches) if current is None else current
    field = slot.field._replace(
        pointer=slot.field.pointer + "~",
        kind="choice",
        options=tuple(Option(label) for label in labels),
        initial=None if current is None else str(current),
        redraws=slot.field.locked is None,
    )
    return slot._replace(field=field, reads="option", values=tuple(values), is_branch_choice=True)


def read_branch_choice(slot: Slot, answers: Mapping[str, str | None]) -> Any:
    """The index of the chosen branch, ABSENT for "Not set", None if nothing is chosen."""
    field = slot.field
    answer = field.initial if field.locked else answers.get(field.pointer, field.initial)
    if not answer and ABSENT in slot.values:
        return ABSENT
    if not (answer and answer.isdecimal() and int(answer) < len(slot.values)):
        answer = field.initial
    return None if answer is None else slot.values[int(answer)]


def _simplify(schema: Schema) -> Schema:
    """The schema without alternatives that differ only in their limits, such as `int | float`."""
    for key in ("oneOf", "anyOf", "type"):
        declared: Any = schema.get(key)
        parts = cast("list[Any]", declared) if isinstance(declared, list) else []
        kinds = {str(cast(Schema, p).get("type") if isinstance(p, dict) else p) for p in parts}
        outer = {name: value for name, value in schema.items() if name != key}
        if kinds == {"string"}:
            return {**outer, "type": "string"}
        if kinds and kinds <= {"integer", "number"}:
            return {**outer, "type": "number" if "number" in kinds else "integer"}
    return schema


def find_branches(flattener: SchemaFlattener, schema: Schema) -> tuple[Schema, tuple[Branch, ...]]:
    """The simplified schema and its branches; () if there are none, or if they only add limits to the rest of
    the schema. Raises CannotFlatten if they can't be told apart.
    """
    schema = _simplify(schema)
    return schema, () if list_options(schema) else _list_branches(flattener, schema)


def _list_branches(flattener: SchemaFlattener, schema: Schema) -> tuple[Branch, ...]:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        types = [{**schema, "type": kind} for kind in cast("list[str]", kinds)]
        return _make_branches(flattener, types, [{"type": part["type"]} for part in types], None)
    key = next((key for key in ("oneOf", "anyOf") if schema.get(key)), None)
    if key is None:
        return ()
    raw = cast("list[Any]", schema[key])
    flats = flattener.flatten_each(raw[: _MAX_BRANCHES + 1])
    own = [flat[0] for flat in flats if flat is not None]
    if len(raw) != len(own) or len(raw) > _MAX_BRANCHES or {"oneOf", "anyOf"} <= schema.keys():
        raise CannotFlatten
    if not all({"properties", "type", "const", "enum"} & branch.keys() for branch in own):
        return ()
    around = {name: value for name, value in schema.items() if name not in (key, "discriminator")}
    whole = [flattener.merge(around, branch) for branch in own]
    return _make_branches(
        flattener, whole, own, _read_discriminator(raw, schema.get("discriminator"))
    )


def _make_branches(
    flattener: SchemaFlattener,
    whole: list[Schema],
    own: list[Schema],
    by: tuple[str, list[Any]] | None,
) -> tuple[Branch, ...]:
    consts = [_consts(flattener, branch) for branch in whole]
    name, values = by or _find_discriminator(consts)
    labels = [_label(branch) for branch in own]
    if not _are_distinct(labels):
        labels = [value if isinstance(value, str) else json.dumps(value) for value in values]
    if not _are_distinct(labels) or len(labels) != len(own):
        raise CannotFlatten
    branches: list[Branch] = []
    for at, (branch, only) in enumerate(zip(whole, consts, strict=True)):
        required = cast("list[str]", branch.get("required", []))
        fixed = {n: value for n, value in only.items() if n in required}
        if name is not None:
            fixed[name] = values[at]
        branches.append(Branch(labels[at], branch, fixed, name))
    return tuple(branches)


def _label(branch: Schema) -> str:
    title = branch.get("title")
    if isinstance(title, str) and title.strip():
        return title
    if "const" in branch:
        return str(branch["const"])
    kind = branch.get("type", "object" if "properties" in branch else None)
    return _TYPE_LABELS.get(kind, "") if isinstance(kind, str) else ""


def _are_distinct(labels: list[str]) -> bool:
    return all(label.strip() for label in labels) and len(set(labels)) == len(labels)


def _consts(flattener: SchemaFlattener, branch: Schema) -> dict[str, Any]:
    """The properties with only one possible value."""
    properties = cast(Schema, branch.get("properties", {}))
    constants: dict[str, Any] = {}
    for name, flat in zip(properties, flattener.flatten_each(properties.values()), strict=True):
        if flat is None:
            continue
        schema, nullable = flat
        values = cast(
            "list[Any]", [schema["const"]] if "const" in schema else schema.get("enum", [])
        )
        if len(values) == 1 and not nullable:
            constants[name] = values[0]
    return constants


def _find_discriminator(consts: list[dict[str, Any]]) -> tuple[str | None, list[Any]]:
    """The property that has a different value in each branch."""
    for name in consts[0]:
        values = [only[name] for only in consts if name in only]
        if len(values) == len(consts) == len({equality_key(value) for value in values}):
            return name, values
    return None, []


def _read_discriminator(raw: list[Any], discriminator: Any) -> tuple[str, list[Any]] | None:
    """The discriminator of OpenAPI 3: a property's name, and the value for each reference."""
    if not isinstance(discriminator, dict):
        return None
    spec = cast(Schema, discriminator)
    name, declared = spec.get("propertyName"), spec.get("mapping")
    mapping = cast(Schema, declared) if isinstance(declared, dict) else {}
    refs = [
        str(cast(Schema, branch).get("$ref", "")) if isinstance(branch, dict) else ""
        for branch in raw
    ]
    by_ref = {ref: value for value, ref in mapping.items() if isinstance(ref, str)}
    values = [by_ref.get(ref, ref.rpartition("/")[2]) for ref in refs]
    return (name, values) if isinstance(name, str) and all(refs) and _are_distinct(values) else None
