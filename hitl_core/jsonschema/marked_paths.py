"""Finds the values of some arguments that a schema marks, for example as `writeOnly`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, cast

from hitl_core.jsonschema.errors import PatternError
from hitl_core.jsonschema.flatten import CannotFlatten, References, Schema
from hitl_core.jsonschema.limits import Budget, TooMuchWork
from hitl_core.jsonschema.patterns import cost_of, search

Path = tuple[str, ...]
_MAX_LOOKS = 5_000  # pairs of a value and a part of the schema
_MAX_STEPS = 20_000  # for matching names with patterns
_NO_LIMIT = 10**9
#: Keywords with schemas about the same value. A mark in any branch counts, also if the branch does not apply.
_ALSO = ("allOf", "anyOf", "oneOf")
_ALSO_ONE = ("if", "then", "else", "not")
_OTHERS = ("additionalProperties", "unevaluatedProperties")


class _Part(NamedTuple):
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

    def only(self, ids: set[int]) -> _Part:
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


class _Names:
    """Matches names with patterns. `unclear`: the budget was not enough for some of them.

    The cost depends only on the pattern and the name, not on caches. So every process gets the same result:
    the one that creates the review, and each one that draws its card.
    """

    def __init__(self) -> None:
        self.unclear = False
        self._budget = Budget(_MAX_STEPS)

    def match(self, pattern: str, name: str, *, doubt: bool) -> bool:
        """`doubt` is the answer if the match can't be computed."""
        try:
            self._budget.spend(1 + len(name) * (1 + cost_of(pattern) // 50))
            return search(pattern, name, Budget(_NO_LIMIT))
        except (PatternError, TooMuchWork):
            self.unclear = True
            return doubt


def find_marked_paths(
    root: Mapping[str, Any],
    args: Mapping[str, Any],
    test: Callable[[Schema], bool],
    budget: Budget | None = None,
) -> tuple[set[Path], bool]:
    """The path of each value that any part of the schema marks, and whether the result is unclear.

    A part marks a value if `test` is true for it. Only parts that lead to a mark are visited, so unmarked
    values cost nothing. If this is too much work, or a reference can't be followed, or a value has another
    form than the object or list of which parts are marked (JSON in a text, a list in place of an object),
    the values in question count as marked and the result is unclear. The `budget` pays a step for each part,
    and for each pair of a part and a value; TooMuchWork is raised if it is not enough.
    """
    parts_by_id = _parts_with_marks(root, test)
    paths: set[Path] = set()
    seen: set[tuple[int, Path]] = set()
    unclear, names = False, _Names()
    fitting, other_form = set[Path](), set[Path]()
    waiting: deque[tuple[object, Any, Path]] = deque([(root, args, ())])
    while waiting:
        schema, value, path = waiting.popleft()
        part = parts_by_id.get(id(schema))
        if part is None or (id(schema), path) in seen:
            continue
        seen.add((id(schema), path))
        if part.has_mark or part.content or not part.has_all_refs:
            paths.add(path)  # if a text contains a marked value, the whole text is marked
            unclear = unclear or not part.has_all_refs
            continue
        if forms := part.forms:
            if isinstance(value, forms):
                fitting.add(path)
            elif _may_have_parts(value):
                other_form.add(path)
        room = max(0, _MAX_LOOKS - len(seen) - len(waiting))
        more = list(islice(_inner_values(part, value, path, names), room + 1))
        if len(more) > room:
            paths.add(path)
            unclear = True
        else:
            waiting.extend(more)
    if budget is not None:
        budget.spend(len(parts_by_id) + len(seen))
    doubtful = other_form - fitting  # another alternative may be about the form that the value has
    return paths | doubtful, unclear or names.unclear or bool(doubtful)


def _may_have_parts(value: object) -> bool:
    """Whether it has parts, or is a text with an object or list in it, as models often write one."""
    if isinstance(value, str):
        return value.lstrip()[:1] in ("{", "[")
    return isinstance(value, dict | list) and bool(cast(Any, value))


def _parts_with_marks(root: Mapping[str, Any], test: Callable[[Schema], bool]) -> dict[int, _Part]:
    """By id, the parts that have a mark, lead to one, or have a reference that can't be followed. Inner parts
    without these are removed.
    """
    references = References(root)
    known: dict[int, _Part] = {}
    above: dict[int, list[int]] = {}
    waiting: list[object] = [root]
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, Mapping) or id(cast(Schema, schema)) in known:
            continue
        part = known[id(cast(Schema, schema))] = _part(references, cast(Schema, schema), test)
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


def _part(references: References, schema: Schema, test: Callable[[Schema], bool]) -> _Part:
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
    return _Part(
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
    )


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


def _inner_values(
    part: _Part, value: Any, path: Path, names: _Names
) -> Iterator[tuple[object, Any, Path]]:
    """The inner parts, each with the value that it is about: the same value, or one inside it."""
    yield from ((also, value, path) for also in part.also)
    if isinstance(value, list):
        held = cast("list[Any]", value)
        for index, one in part.single:
            if isinstance(index, int) and index < len(held):
                yield one, held[index], (*path, str(index))
        if part.rest or part.each:
            for index, item in enumerate(held):
                about = part.each if index < part.first else [*part.each, *part.rest]
                yield from ((each, item, (*path, str(index))) for each in about)
    elif isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        for name, one in part.single:
            if isinstance(name, str) and name in named:
                yield one, named[name], (*path, name)
        if part.patterns or part.others:
            for name, item in named.items():
                for each in _property_parts(part, name, names):
                    yield each, item, (*path, name)


def _property_parts(part: _Part, name: str, names: _Names) -> Iterator[object]:
    """The inner parts for this property, by patterns or by `additionalProperties` and similar keywords."""
    yield from (each for pattern, each in part.patterns if names.match(pattern, name, doubt=True))
    if not part.others or name in part.names:
        return
    if not any(names.match(pattern, name, doubt=False) for pattern in part.expressions):
        yield from part.others
