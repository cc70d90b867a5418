"""Branches of a value (`oneOf`, `anyOf`): which one the value has now, and what a switch to another keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from hitl_core.forms.fields import is_number
from hitl_core.forms.plan.members import member_schema
from hitl_core.forms.slot import ABSENT
from hitl_core.jsonschema import Budget, CannotFlatten, Schema, SchemaFlattener, equality_key

_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("Text", lambda value: isinstance(value, str)),
    "integer": ("Whole number", lambda value: is_number(value) and value == int(value)),
    "number": ("Number", is_number),
    "boolean": ("Yes or no", lambda value: isinstance(value, bool)),
    "object": ("Object", lambda value: isinstance(value, dict)),
    "array": ("List", lambda value: isinstance(value, list)),
    "null": ("Null", lambda value: value is None),
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


def simplify(schema: Schema) -> Schema:
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


def find_branches(flattener: SchemaFlattener, schema: Schema) -> tuple[Branch, ...]:
    """The branches; () if there are none, or if they only add limits to the rest of the schema. Raises
    CannotFlatten if they can't be told apart.
    """
    kinds = schema.get("type")
    if isinstance(kinds, list):
        types = [{**schema, "type": kind} for kind in cast("list[str]", kinds)]
        return _make_branches(flattener, types, [{"type": part["type"]} for part in types], None)
    key = next((key for key in ("oneOf", "anyOf") if schema.get(key)), None)
    if key is None:
        return ()
    raw = cast("list[Any]", schema[key])
    own = [flattener.flatten(branch)[0] for branch in raw[: _MAX_BRANCHES + 1]]
    if len(raw) > _MAX_BRANCHES or {"oneOf", "anyOf"} <= schema.keys():
        raise CannotFlatten
    if not all({"properties", "type", "const", "enum"} & branch.keys() for branch in own):
        return ()
    around = {name: value for name, value in schema.items() if name not in (key, "discriminator")}
    whole = [flattener.merge(around, branch) for branch in own]
    return _make_branches(
        flattener, whole, own, _read_discriminator(raw, schema.get("discriminator"))
    )


def match_branch(branches: tuple[Branch, ...], value: Any, budget: Budget) -> int | None:
    """The index of the branch that the value has; None if it has none of them. Raises TooMuchWork."""
    held = cast(Schema, value) if isinstance(value, dict) else {}
    for at, branch in enumerate(branches):
        if branch.discriminator in held and _are_equal(
            held[branch.discriminator], branch.constants[branch.discriminator]
        ):
            return at
    if any(branch.discriminator in held for branch in branches):
        return None
    matching = [at for at, branch in enumerate(branches) if _matches_branch(branch, value, budget)]
    return max(matching, key=lambda at: len(branches[at].properties.keys() & held), default=None)


def switch_branch(flattener: SchemaFlattener, old: Branch | None, new: Branch, value: Any) -> Any:
    """The value after a switch to another branch. Values that fit there are kept; values that only the old
    branch has are removed.
    """
    if "const" in new.schema:
        return new.schema["const"]
    if new.schema.get("type", "object") != "object":
        return ABSENT
    kept = dict(new.constants)
    for name, item in cast(Schema, value).items() if isinstance(value, dict) else ():
        before = old.properties.get(name) if old else None
        if name in new.properties:
            declared = new.properties[name]
            stays = declared == before or _fits(flattener, declared, item)
        else:
            declared = member_schema(new.schema, name, flattener.budget)
            stays = before is None and declared is not False
        if stays and name not in kept:
            kept[name] = item
    return kept


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
    return _TYPES[kind][0] if isinstance(kind, str) and kind in _TYPES else ""


def _are_distinct(labels: list[str]) -> bool:
    return all(label.strip() for label in labels) and len(set(labels)) == len(labels)


def _consts(flattener: SchemaFlattener, branch: Schema) -> dict[str, Any]:
    """The properties with only one possible value."""
    constants: dict[str, Any] = {}
    for name, declared in cast(Schema, branch.get("properties", {})).items():
        try:
            schema, nullable = flattener.flatten(declared)
        except CannotFlatten:
            continue
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


def _matches_branch(branch: Branch, value: Any, budget: Budget) -> bool:
    if not _matches_type(branch.schema, value):
        return False
    if not isinstance(value, dict):
        return True
    held = cast(Schema, value)
    return (
        all(name in held for name in cast("list[str]", branch.schema.get("required", [])))
        and all(
            _are_equal(held[name], only) for name, only in branch.constants.items() if name in held
        )
        and all(
            member_schema(branch.schema, name, budget) is not False
            for name in held.keys() - branch.properties.keys()
        )
    )


def _fits(flattener: SchemaFlattener, declared: object, value: Any) -> bool:
    try:
        schema, nullable = flattener.flatten(declared)
    except CannotFlatten:
        return False
    return (value is None and nullable) or _matches_type(schema, value)


def _matches_type(schema: Schema, value: Any) -> bool:
    """Whether the value has this type and is one of the allowed values. Other limits are not checked."""
    kind = schema.get("type", "object" if "properties" in schema else None)
    kinds = cast("list[str]", kind if isinstance(kind, list) else [kind] if kind else [])
    if kinds and not any(_TYPES[name][1](value) for name in kinds if name in _TYPES):
        return False
    allowed = (
        [schema["const"]] if "const" in schema else cast("list[Any]", schema.get("enum") or [])
    )
    return not allowed or any(_are_equal(value, other) for other in allowed)


def _are_equal(a: Any, b: Any) -> bool:
    return equality_key(a) == equality_key(b)
