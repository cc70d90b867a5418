"""Where in some arguments a schema says something of a value, such as `writeOnly`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, cast

from hitl_core.jsonschema.budget import Budget, TooMuchWork
from hitl_core.jsonschema.errors import PatternError
from hitl_core.jsonschema.flatten import CannotFlatten, References, Schema
from hitl_core.jsonschema.patterns.pattern import cost_of, search

Path = tuple[str, ...]
_MAX_LOOKS = 5_000  # at values that may hold a mark
_MAX_STEPS = 20_000  # of patterns, on names
_NO_END = 10**9
_ALSO = ("allOf", "anyOf", "oneOf")  # whatever they say of a value counts
_ALSO_ONE = ("if", "then", "else", "not")
_OTHERS = ("additionalProperties", "unevaluatedProperties")


class _Part(NamedTuple):
    """A part of a schema, with those of its parts that are about the same value, or about values in it."""

    marked: bool
    followed: bool  # whether each of its references could be
    also: list[object]
    single: list[tuple[int | str, object]]  # by place or name
    patterns: list[tuple[str, object]]  # of names that match
    others: list[object]  # of names that neither `properties` has nor a pattern matches
    rest: list[object]  # of items behind the first ones
    each: list[object]  # of any item
    names: Collection[str]
    expressions: list[str]
    first: int

    def below(self) -> list[object]:
        named = [part for _, part in (*self.single, *self.patterns)]
        return [*self.also, *named, *self.others, *self.rest, *self.each]

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
        )


class _Names:
    """Which names match which patterns. `unclear`: for some there was no time.

    The pattern and the name alone say what a try costs, not what an automaton remembers: what was clear when
    the review was made must be clear to each process that draws its card.
    """

    def __init__(self) -> None:
        self.unclear = False
        self._budget = Budget(_MAX_STEPS)

    def match(self, pattern: str, name: str, *, doubt: bool) -> bool:
        """`doubt` is the answer where nobody can tell."""
        try:
            self._budget.spend(1 + len(name) * (1 + cost_of(pattern) // 50))
            return search(pattern, name, Budget(_NO_END))
        except (PatternError, TooMuchWork):
            self.unclear = True
            return doubt


def marked(
    root: Mapping[str, Any], args: Mapping[str, Any], test: Callable[[Schema], bool]
) -> tuple[set[Path], bool]:
    """The way to each value of which any part of the schema says so. Only parts that lead to such a mark are
    looked at: what the schema says nothing of costs nothing. Where that is still too much, or a reference
    can't be followed, the values concerned count as marked; then the second is True.
    """
    parts_by_id = _leading(root, test)
    found: set[Path] = set()
    seen: set[tuple[int, Path]] = set()
    unclear, names = False, _Names()
    waiting: deque[tuple[object, Any, Path]] = deque([(root, args, ())])
    while waiting:
        schema, value, path = waiting.popleft()
        part = parts_by_id.get(id(schema))
        if part is None or (id(schema), path) in seen:
            continue
        seen.add((id(schema), path))
        if part.marked or not part.followed:
            found.add(path)
            unclear = unclear or not part.followed
            continue
        room = max(0, _MAX_LOOKS - len(seen) - len(waiting))
        more = list(islice(_more(part, value, path, names), room + 1))
        if len(more) > room:
            found.add(path)
            unclear = True
        else:
            waiting.extend(more)
    return found, unclear or names.unclear


def _leading(root: Mapping[str, Any], test: Callable[[Schema], bool]) -> dict[int, _Part]:
    """By id, the parts that are marked, lead to one that is, or have a reference that can't be followed; of
    theirs only such parts.
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
    ends = [each for each, part in known.items() if part.marked or not part.followed]
    leading: set[int] = set()
    while ends:
        if (end := ends.pop()) not in leading:
            leading.add(end)
            ends.extend(above.get(end, ()))
    return {each: known[each].only(leading) for each in leading}


def _part(references: References, schema: Schema, test: Callable[[Schema], bool]) -> _Part:
    try:
        also, followed = list(_same_place(references, schema)), True
    except CannotFlatten:
        also, followed = [], False
    items = schema.get("items")
    first = cast(
        "list[object]", schema.get("prefixItems", items if isinstance(items, list) else [])
    )
    rest = schema.get("additionalItems") if isinstance(items, list) else items
    named = cast("dict[str, object]", schema.get("properties", {}))
    patterns = cast("dict[str, object]", schema.get("patternProperties", {}))
    return _Part(
        test(schema),
        followed,
        also,
        [*enumerate(first), *named.items()],
        [*patterns.items()],
        [schema[key] for key in _OTHERS if key in schema],
        [rest, schema.get("unevaluatedItems")],
        [schema.get("contains")],
        named,
        [*patterns],
        len(first),
    )


def _same_place(references: References, schema: Schema) -> Iterator[object]:
    """Whatever else of the schema is about the same value."""
    for key in _ALSO:
        yield from cast("list[object]", schema.get(key, []))
    yield from (schema[key] for key in _ALSO_ONE if key in schema)
    for key in ("dependentSchemas", "dependencies"):
        yield from cast("dict[str, object]", schema.get(key, {})).values()
    if "$dynamicRef" in schema or "$recursiveRef" in schema:
        raise CannotFlatten
    if "$ref" in schema:
        yield references.resolve_ref(schema["$ref"])


def _more(part: _Part, value: Any, path: Path, names: _Names) -> Iterator[tuple[object, Any, Path]]:
    """The parts that are about the same value, or about values in it."""
    yield from ((also, value, path) for also in part.also)
    if isinstance(value, list):
        held = cast("list[Any]", value)
        for place, one in part.single:
            if isinstance(place, int) and place < len(held):
                yield one, held[place], (*path, str(place))
        if part.rest or part.each:
            for place, item in enumerate(held):
                about = part.each if place < part.first else [*part.each, *part.rest]
                yield from ((each, item, (*path, str(place))) for each in about)
    elif isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        for name, one in part.single:
            if isinstance(name, str) and name in named:
                yield one, named[name], (*path, name)
        if part.patterns or part.others:
            for name, item in named.items():
                for each in _about(part, name, names):
                    yield each, item, (*path, name)


def _about(part: _Part, name: str, names: _Names) -> Iterator[object]:
    """What patterns, or `additionalProperties` and its like, say of the value of this name."""
    yield from (each for pattern, each in part.patterns if names.match(pattern, name, doubt=True))
    if not part.others or name in part.names:
        return
    if not any(names.match(pattern, name, doubt=False) for pattern in part.expressions):
        yield from part.others
