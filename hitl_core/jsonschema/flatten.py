"""What a part of a schema says once its references are followed and its parts are put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

from hitl_core.jsonschema.budget import Budget
from hitl_core.jsonschema.keywords import equality_key
from hitl_core.jsonschema.pointer import parse_pointer

Schema = dict[str, Any]
MAX_REFS = 8  # one after the other, and inside each other
_ANNOTATIONS = (
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "$comment",
)  # the outer counts
_LOWER_LIMITS = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER_LIMITS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_FLAGS = ("readOnly", "writeOnly", "uniqueItems")
_IGNORED_KEYS = ("$schema", "$id", "$defs", "definitions", "$anchor")


class CannotFlatten(Exception):
    """These can't be one schema that a form could show; it stays JSON."""


class SchemaFlattener:
    """The parts of one schema, each worked out once: references that fan out cost no more than they are."""

    def __init__(self, root: Mapping[str, Any], budget: Budget) -> None:
        self._references, self.budget = References(root), budget
        self._cache: dict[
            int, tuple[object, Schema | None]
        ] = {}  # with the part, so its id stays its own
        self._in_progress: list[int] = []

    def flatten(self, declared: object) -> tuple[Schema, bool]:
        """The schema without `$ref`, `allOf` and null, and whether null is allowed.

        Raises Conflict where that can't be said: parts that contradict each other, references that go round
        or deeper than 8, or that can't be followed. It never judges whether a value is valid.
        """
        self.budget.spend(2)
        schema, nullable = self._flatten_part(declared), False
        for _ in range(MAX_REFS):
            schema, null, more = _without_null(schema)
            nullable = nullable or null
            if more is None:
                return schema, nullable
            schema = self.merge(schema, self._flatten_part(more))
        raise CannotFlatten

    def merge(self, a: Schema, b: Schema) -> Schema:
        """What both say at once, paid for. Raises Conflict, and TooMuchWork."""
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
    """What the references inside one schema name. Where a part has an address of its own (`$id`) none is
    followed: what checks arguments looks for `#/…` from there, and nobody may see or change what it says.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root, self._flat = root, not _has_address_inside(root)

    def resolve_ref(self, ref: object) -> object:
        """Raises Conflict for a reference that can't be followed."""
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
    """Also where such a word stands in a value: a schema with both is too rare to tell them apart."""
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
    """The schema, whether it named null, and the one alternative that is left of anyOf, if so."""
    kinds = schema.get("type")
    if schema.get("nullable") is True and kinds is not None:  # as OpenAPI 3.0 says it
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
    """What both say at once. Of what is only told, as a title, a's counts. Raises Conflict."""
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
    """A property that two parts name: both hold. They are put together when it is drawn."""
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
