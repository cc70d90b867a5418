"""The parts of a schema that have a mark, for example `writeOnly`, or lead to one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

from hitl_core.jsonschema.flatten import CannotFlatten, References, Schema

#: Keywords with schemas about the same value. A mark in any branch counts, also if the branch does not apply.
_ALSO = ("allOf", "anyOf", "oneOf")
_ALSO_ONE = ("if", "then", "else", "not")
_NUMBERS = ("integer", "number")
_OTHERS = ("additionalProperties", "unevaluatedProperties")


class Part(NamedTuple):
    """A part of a schema, with its inner parts by the values that they are about."""

    has_mark: bool
    has_all_refs: bool  # all its references can be followed
    also: list[object]  # about the same value
    single: list[tuple[int | str, object]]  # about one item or property
    patterns: list[tuple[str, object]]  # about properties whose name matches
    others: list[object]  # about properties that neither `properties` nor a pattern covers
    rest: list[object]  # about the items after the first ones
    each: list[object]  # about all items
    content: list[object]  # about what a text contains
    names: Collection[str]
    expressions: list[str]
    first: int
    plain: tuple[type, ...]  # whether its value may be a text or a number, as far as it says so

    def below(self) -> list[object]:
        by_name = [part for _, part in (*self.single, *self.patterns)]
        return [*self.also, *by_name, *self.others, *self.rest, *self.each, *self.content]

    @property
    def forms(self) -> tuple[type, ...]:
        """The forms of a value, dict or list, of which it marks parts, if only parts with marks are left."""
        names = [isinstance(name, str) for name, _ in self.single]
        in_object = bool(self.patterns or self.others or any(names))
        in_list = any((*self.rest, *self.each)) or not all(names)
        return (dict,) * in_object + (list,) * in_list

    def only(self, ids: set[int]) -> Part:
        def among(parts: list[object]) -> list[object]:
            return [part for part in parts if id(part) in ids]

        return self._replace(
            also=among(self.also),
            single=[(name, part) for name, part in self.single if id(part) in ids],
            patterns=[(name, part) for name, part in self.patterns if id(part) in ids],
            others=among(self.others),
            rest=among(self.rest),
            each=among(self.each),
            content=among(self.content),
        )


def find_parts_with_marks(
    root: Mapping[str, Any], test: Callable[[Schema], bool]
) -> dict[int, Part]:
    """By id, the parts that have a mark, lead to one, or have a reference that can't be followed. Inner parts
    without these are removed.
    """
    references = References(root)
    known: dict[int, Part] = {}
    above: dict[int, list[int]] = {}
    waiting: list[object] = [root]
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, Mapping) or id(cast(Schema, schema)) in known:
            continue
        part = known[id(cast(Schema, schema))] = _make_part(references, cast(Schema, schema), test)
        for each in part.below():
            above.setdefault(id(each), []).append(id(cast(Schema, schema)))
            waiting.append(each)
    ends = [each for each, part in known.items() if part.has_mark or not part.has_all_refs]
    leading: set[int] = set()
    while ends:
        if (end := ends.pop()) not in leading:
            leading.add(end)
            ends.extend(above.get(end, ()))
    return {each: known[each].only(leading) for each in leading}


def _make_part(references: References, schema: Schema, test: Callable[[Schema], bool]) -> Part:
    try:
        also, has_all_refs = list(_same_value(references, schema)), True
    except CannotFlatten:
        also, has_all_refs = [], False
    items = schema.get("items")
    first = cast(
        "list[object]", schema.get("prefixItems", items if isinstance(items, list) else [])
    )
    rest = schema.get("additionalItems") if isinstance(items, list) else items
    named = cast("dict[str, object]", schema.get("properties", {}))
    patterns = cast("dict[str, object]", schema.get("patternProperties", {}))
    return Part(
        test(schema),
        has_all_refs,
        also,
        [*enumerate(first), *named.items()],
        [*patterns.items()],
        [schema[key] for key in _OTHERS if key in schema],
        [rest, schema.get("unevaluatedItems")],
        [schema.get("contains")],
        [schema.get("contentSchema")],
        named,
        [*patterns],
        len(first),
        _plain_types(references, schema),
    )


def _plain_types(references: References, schema: Schema) -> tuple[type, ...]:
    """The types without parts that the schema or one of its alternatives names."""
    named = set[str]()
    for branch in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        part = branch
        if isinstance(branch, Mapping) and "$ref" in branch:
            with suppress(CannotFlatten):
                part = references.resolve_ref(cast(Schema, branch)["$ref"])
        kinds: Any = cast(Schema, part).get("type", []) if isinstance(part, Mapping) else []
        named.update([kinds] if isinstance(kinds, str) else kinds)
    return (str,) * ("string" in named) + (int, float) * (not named.isdisjoint(_NUMBERS))


def _same_value(references: References, schema: Schema) -> Iterator[object]:
    """The inner parts that are about the same value."""
    for key in _ALSO:
        yield from cast("list[object]", schema.get(key, []))
    yield from (schema[key] for key in _ALSO_ONE if key in schema)
    for key in ("dependentSchemas", "dependencies"):
        yield from cast("dict[str, object]", schema.get(key, {})).values()
    if "$dynamicRef" in schema or "$recursiveRef" in schema:
        raise CannotFlatten
    if "$ref" in schema:
        yield references.resolve_ref(schema["$ref"])
