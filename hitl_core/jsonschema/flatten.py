"""Flattens a part of a schema for a form: follows `$ref`, and merges `allOf` into one schema."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast
from urllib.parse import unquote

from hitl_core.jsonschema.checks import equality_key
from hitl_core.jsonschema.errors import parse_pointer
from hitl_core.jsonschema.limits import Budget

Schema = dict[str, Any]
#: A schema without `$ref`, `allOf` and null, and whether null is allowed.
FlatSchema = tuple[Schema, bool]
MAX_REFS = 8  # in a row, and inside each other
_ANNOTATIONS = (
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "$comment",
)  # if both have one, the outer one is used
_LOWER_LIMITS = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER_LIMITS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_FLAGS = ("readOnly", "writeOnly", "uniqueItems")
_IGNORED_KEYS = ("$schema", "$id", "$defs", "definitions", "$anchor")


def schema_properties(schema: object) -> dict[str, Any]:
    """The schema of each property; {} if there is none, or if this is not the schema of an object."""
    if not isinstance(schema, dict):
        return {}
    properties = cast(Schema, schema).get("properties")
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}


class CannotFlatten(Exception):
    """The parts can't become one schema for a form field. The form shows the value as JSON."""


class SchemaFlattener:
    """Flattens the parts of one schema, each part once: so many references to one part cost little."""

    def __init__(self, root: Mapping[str, Any], budget: Budget) -> None:
        self._references, self.budget = References(root), budget
        # With the part, so its id stays its own.
        self._cache: dict[int, tuple[object, Schema | None]] = {}
        self._in_progress: list[int] = []

    def flatten(self, declared: object) -> FlatSchema:
        """One part. Raises CannotFlatten if parts contradict each other, or if references form a circle, are
        deeper than 8, or can't be followed. The result is for display only; it does not decide whether a
        value is valid.
        """
        self.budget.spend(2)
        return self._flatten(declared)

    def flatten_each(self, parts: Collection[object]) -> list[FlatSchema | None]:
        """The parts in their order; None for a part that can't be flattened (see `flatten`)."""
        self.budget.spend(2 * len(parts))
        flats = list[FlatSchema | None]()
        for declared in parts:
            try:
                flats.append(self._flatten(declared))
            except CannotFlatten:
                flats.append(None)
        return flats

    def _flatten(self, declared: object) -> FlatSchema:
        schema, nullable = self._flatten_part(declared), False
        for _ in range(MAX_REFS):
            schema, null, more = _without_null(schema)
            nullable = nullable or null
            if more is None:
                return schema, nullable
            schema = self.merge(schema, self._flatten_part(more))
        raise CannotFlatten

    def merge(self, a: Schema, b: Schema) -> Schema:
        """`merge_schemas` within the budget. Raises CannotFlatten and TooMuchWork."""
        named = len(a.get("properties", ())) + len(b.get("properties", ()))
        self.budget.spend(2 + len(a) + len(b) + 2 * named)
        return merge_schemas(a, b)

    def _flatten_part(self, declared: object) -> Schema:
        if not isinstance(declared, dict):
            if declared is False:
                raise CannotFlatten
            return {}
        part = cast(Schema, declared)
        if id(part) not in self._cache:
            if id(part) in self._in_progress or len(self._in_progress) > MAX_REFS:
                raise CannotFlatten
            self._in_progress.append(id(part))
            try:
                flat = self._combine_part(part)
            except CannotFlatten:
                flat = None
            finally:
                self._in_progress.pop()
            self._cache[id(part)] = (part, flat)
        known = self._cache[id(part)][1]
        if known is None:
            raise CannotFlatten
        return known

    def _combine_part(self, part: Schema) -> Schema:
        if "$dynamicRef" in part or "$recursiveRef" in part:
            raise CannotFlatten
        inner = list(cast("list[object]", part.get("allOf", [])))
        if "$ref" in part:
            inner.append(self._references.resolve_ref(part["$ref"]))
        schema = {name: value for name, value in part.items() if name not in ("allOf", "$ref")}
        for other in inner:
            schema = self.merge(schema, self._flatten_part(other))
        return schema


class References:
    """Resolves the references inside one schema.

    If a part has its own `$id`, no reference is followed: the validator resolves `#/…` from that part, so
    this class could find another target. Then a hidden value could be shown, or a read-only one changed.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root, self._flat = root, not _has_address_inside(root)

    def resolve_ref(self, ref: object) -> object:
        """Raises CannotFlatten for a reference that can't be followed."""
        if not self._flat or not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            raise CannotFlatten
        node: Any = self._root
        try:
            for part in parse_pointer(unquote(ref[1:])):
                node = node[int(part) if isinstance(node, list) else part]
        except (LookupError, TypeError, ValueError) as error:
            raise CannotFlatten from error
        return node


def _has_address_inside(root: Mapping[str, Any]) -> bool:
    """Whether a part has its own `$id`. An `$id` in a value, such as a default, counts too; that is rare."""
    word = "id" if "draft-04" in str(root.get("$schema")) else "$id"
    waiting: list[object] = [*root.values()]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            held = cast(Schema, part)
            if isinstance(held.get(word), str):
                return True
            waiting.extend(held.values())
        elif isinstance(part, list):
            waiting.extend(cast("list[object]", part))
    return False


def _without_null(schema: Schema) -> tuple[Schema, bool, object]:
    """The schema without null, whether it had null, and the remaining schema of `anyOf` if only one is
    left.
    """
    kinds = schema.get("type")
    if schema.get("nullable") is True and kinds is not None:  # the form of OpenAPI 3.0
        return {name: value for name, value in schema.items() if name != "nullable"}, True, None
    if isinstance(kinds, list) and "null" in kinds:
        others = [kind for kind in cast("list[str]", kinds) if kind != "null"] or ["null"]
        return {**schema, "type": others[0] if len(others) == 1 else others}, True, None
    for key in ("anyOf", "oneOf"):
        branches = cast("list[Any]", schema.get(key) or [])
        others = [
            branch for branch in branches if branch not in ({"type": "null"}, {"const": None})
        ]
        if len(others) == len(branches) != 1:
            continue
        outer = {name: value for name, value in schema.items() if name != key}
        if len(others) == 1:
            return outer, len(branches) > 1, others[0]
        return {**outer, key: others}, True, None
    return schema, False, None


def merge_schemas(a: Schema, b: Schema) -> Schema:
    """One schema that requires what both require. For titles and other annotations `a` wins. Raises
    CannotFlatten.
    """
    result = dict(a)
    for key, value in b.items():
        if key in _IGNORED_KEYS:
            continue
        if key not in result:
            result[key] = value
        elif key not in _ANNOTATIONS and equality_key(result[key]) != equality_key(value):
            result[key] = _merge_keyword(key, result[key], value)
    return result


def _merge_keyword(key: str, a: Any, b: Any) -> Any:
    if key == "properties":
        return {name: _merge_property(name, a, b) for name in [*a, *(n for n in b if n not in a)]}
    if key == "required":
        return list(dict.fromkeys([*a, *b]))
    if key == "type":
        return _common_type(a, b)
    if key in _LOWER_LIMITS or key in _UPPER_LIMITS:
        return max(a, b) if key in _LOWER_LIMITS else min(a, b)
    if key in _FLAGS:
        return a or b
    if key == "enum":
        allowed = {equality_key(value) for value in b}
        return [value for value in a if equality_key(value) in allowed]
    raise CannotFlatten


def _merge_property(name: str, a: dict[str, Any], b: dict[str, Any]) -> Any:
    """If both schemas have the property, both apply. They are merged when the property is flattened."""
    if name in a and name in b:
        if a[name] == b[name]:
            return a[name]
        titles = (
            cast(Schema, each).get("title") for each in (a[name], b[name]) if isinstance(each, dict)
        )
        title = next((one for one in titles if isinstance(one, str)), None)
        both: Schema = {"allOf": [a[name], b[name]]}
        return both if title is None else {"title": title, **both}
    return a[name] if name in a else b[name]


def _common_type(a: Any, b: Any) -> Any:
    first: list[str] = [a] if isinstance(a, str) else a
    second: list[str] = [b] if isinstance(b, str) else b
    common = [kind for kind in first if kind in second]
    if {"integer", "number"} <= {*first, *second} and "integer" not in common:
        common.append("integer")
    if not common:
        raise CannotFlatten
    return common[0] if len(common) == 1 else common
