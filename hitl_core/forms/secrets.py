"""What nobody may see (hidden by the policy, `writeOnly`, `format: password`), and what must not change."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, cast

from hitl_core.forms.pointer import parts
from hitl_core.forms.shape import Conflict, Schema, target

HIDDEN = "(hidden)"
#: At the root of a schema that may hide nothing (`forms.unsaid`).
MARK = "x-hitl-unsaid"
Path = tuple[str, ...]
_MAX_LOOKS = 5_000  # at values that may hold a mark
_ALSO = ("allOf", "anyOf", "oneOf")  # whatever they say of a value counts
_ALSO_ONE = ("if", "then", "else", "not")
_EVERY = (
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
)


def is_secret(schema: Schema) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def is_fixed(schema: Schema) -> bool:
    return schema.get("readOnly") is True


class Marks:
    """Where in the arguments something is hidden, and where something must not change."""

    def __init__(
        self, root: Mapping[str, Any], args: Mapping[str, Any], redact: Collection[str]
    ) -> None:
        text = json.dumps(dict(root))
        self._hidden: set[Path] = {tuple(parts(pointer)) for pointer in redact}
        #: Whether more is hidden than the schema says, since nobody can tell what it says of these arguments.
        self.unclear = False
        if root.get(MARK) is not True and ('"writeOnly": true' in text or '"password"' in text):
            marked, self.unclear = _marked(root, args, is_secret)
            self._hidden |= marked
        self.fixed = set[Path]()
        if '"readOnly": true' in text:
            self.fixed, _ = _marked(root, args, is_fixed)

    def hides(self, names: Path) -> bool:
        return any(names[:end] in self._hidden for end in range(len(names) + 1))

    def hidden_in(self, names: Path, value: Any) -> list[Path]:
        """The ways, from the value that stands there, to what is hidden in it."""
        return [path for path in _below(self._hidden, names) if holds(value, path)]

    def fixes(self, names: Path) -> bool:
        """Whether what stands there must not change."""
        return bool(self.fixed) and any(names[:end] in self.fixed for end in range(len(names) + 1))

    def fixed_in(self, names: Path, value: Any) -> tuple[Path, ...]:
        """The ways to what must not change in it."""
        found = _below(self.fixed, names)
        return tuple(path for path in found if path and holds(value, path))


def hidden_in(
    schema: Mapping[str, Any] | None, args: Mapping[str, Any], redact: Collection[str] = ()
) -> list[Path]:
    """The ways to what nobody may see of these arguments; `()` is all of them."""
    return Marks(schema or {}, args, redact).hidden_in((), args)


def unclear(schema: Mapping[str, Any] | None, args: Mapping[str, Any]) -> bool:
    """Whether nobody can tell what the schema hides of these arguments: they are too large, or it has a
    reference that can't be followed. `hidden_in` hides too much then, so nobody may be asked about them.
    """
    return Marks(schema or {}, args, ()).unclear


def masked_args(
    args: Mapping[str, Any], hidden: list[Path], stand_in: str = HIDDEN
) -> dict[str, Any]:
    """All arguments by their names, and the stand-in at the ends of these ways."""
    if () in hidden:
        return dict.fromkeys(args, stand_in)
    return masked(dict(args), hidden, stand_in)


def masked(value: Any, hidden: list[Path], stand_in: str = HIDDEN) -> Any:
    """A copy in which the stand-in stands at the ends of these ways."""
    if () in hidden:
        return stand_in
    if not hidden:
        return value
    below: dict[str, list[Path]] = {}
    for path in hidden:
        below.setdefault(path[0], []).append(path[1:])
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [masked(item, below.get(str(n), []), stand_in) for n, item in enumerate(items)]
    named = cast("dict[str, Any]", value)
    return {name: masked(item, below.get(name, []), stand_in) for name, item in named.items()}


def holds(value: Any, path: Path) -> bool:
    for name in path:
        if isinstance(value, list):
            items = cast("list[Any]", value)
            if not (name.isascii() and name.isdecimal() and int(name) < len(items)):
                return False
            value = items[int(name)]
        elif isinstance(value, dict) and name in value:
            value = cast("dict[str, Any]", value)[name]
        else:
            return False
    return True


def _below(paths: set[Path], names: Path) -> list[Path]:
    return [path[len(names) :] for path in paths if path[: len(names)] == names]


class _Part(NamedTuple):
    """A part of a schema, with those of its parts that are about the same value, any value in it, and single
    ones in it by place or name.
    """

    marked: bool
    followed: bool  # whether each of its references could be
    also: list[object]
    every: list[object]
    single: list[tuple[int | str, object]]

    def below(self) -> list[object]:
        return [*self.also, *self.every, *(part for _, part in self.single)]

    def only(self, ids: set[int]) -> _Part:
        return self._replace(
            also=[part for part in self.also if id(part) in ids],
            every=[part for part in self.every if id(part) in ids],
            single=[(name, part) for name, part in self.single if id(part) in ids],
        )


def _marked(
    root: Mapping[str, Any], args: Mapping[str, Any], test: Callable[[Schema], bool]
) -> tuple[set[Path], bool]:
    """The way to each value of which any part of the schema says so. Only parts that lead to such a mark are
    looked at: what the schema says nothing of costs nothing. Where that is still too much, or a reference
    can't be followed, the values concerned count as marked; then the second is True.
    """
    parts_by_id = _leading(root, test)
    found: set[Path] = set()
    seen: set[tuple[int, Path]] = set()
    unclear = False
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
        more = list(islice(_more(part, value, path), room + 1))
        if len(more) > room:
            found.add(path)
            unclear = True
        else:
            waiting.extend(more)
    return found, unclear


def _leading(root: Mapping[str, Any], test: Callable[[Schema], bool]) -> dict[int, _Part]:
    """By id, the parts that are marked, lead to one that is, or have a reference that can't be followed; of
    theirs only such parts.
    """
    known: dict[int, _Part] = {}
    above: dict[int, list[int]] = {}
    waiting: list[object] = [root]
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, Mapping) or id(cast(Schema, schema)) in known:
            continue
        part = known[id(cast(Schema, schema))] = _part(root, cast(Schema, schema), test)
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


def _part(root: Mapping[str, Any], schema: Schema, test: Callable[[Schema], bool]) -> _Part:
    try:
        also, followed = list(_same_place(root, schema)), True
    except Conflict:
        also, followed = [], False
    every = [schema[key] for key in _EVERY if isinstance(schema.get(key), dict)]
    every += cast("dict[str, object]", schema.get("patternProperties", {})).values()
    first = schema.get("prefixItems", schema.get("items"))
    listed = enumerate(cast("list[object]", first) if isinstance(first, list) else [])
    named = cast("dict[str, object]", schema.get("properties", {})).items()
    return _Part(test(schema), followed, also, every, [*listed, *named])


def _same_place(root: Mapping[str, Any], schema: Schema) -> Iterator[object]:
    """Whatever else of the schema is about the same value."""
    for key in _ALSO:
        yield from cast("list[object]", schema.get(key, []))
    yield from (schema[key] for key in _ALSO_ONE if key in schema)
    for key in ("dependentSchemas", "dependencies"):
        yield from cast("dict[str, object]", schema.get(key, {})).values()
    if "$dynamicRef" in schema or "$recursiveRef" in schema:
        raise Conflict
    if "$ref" in schema:
        yield target(root, schema["$ref"])


def _more(part: _Part, value: Any, path: Path) -> Iterator[tuple[object, Any, Path]]:
    """The parts that are about the same value, or may be about values in it."""
    yield from ((also, value, path) for also in part.also)
    if not isinstance(value, Mapping | list):
        return
    held = cast("dict[str, Any] | list[Any]", value)
    if part.every:
        for name, item in enumerate(held) if isinstance(held, list) else held.items():
            yield from ((each, item, (*path, str(name))) for each in part.every)
    for name, each in part.single:
        if isinstance(held, list):
            if isinstance(name, int) and name < len(held):
                yield each, held[name], (*path, str(name))
        elif isinstance(name, str) and name in held:
            yield each, held[name], (*path, name)
