"""What nobody may see (hidden by the policy, `writeOnly`, `format: password`), and what must not change."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, cast

from hitl_core.forms.pointer import parts
from hitl_core.forms.shape import Conflict, Schema, target

HIDDEN = "(hidden)"
#: At the root of a schema that may hide nothing (`forms.unsaid`).
MARK = "x-hitl-unsaid"
Path = tuple[str, ...]
_MAX_LOOKS = 5_000
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
        if root.get(MARK) is not True and ('"writeOnly": true' in text or '"password"' in text):
            self._hidden |= _marked(root, args, is_secret)
        self.fixed = _marked(root, args, is_fixed) if '"readOnly": true' in text else set[Path]()

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


def _marked(
    root: Mapping[str, Any], args: Mapping[str, Any], test: Callable[[Schema], bool]
) -> set[Path]:
    """The way to each value of which any part of the schema says so. Whatever there is no time to look into
    counts as if it did."""
    found: set[Path] = set()
    seen: set[tuple[int, Path]] = set()
    looks = 0
    waiting: deque[tuple[object, Any, Path]] = deque([(root, args, ())])
    while waiting:
        part, value, path = waiting.popleft()
        if not isinstance(part, Mapping):
            continue
        schema = cast(Schema, part)
        if (id(schema), path) in seen:
            continue
        seen.add((id(schema), path))
        if test(schema):
            found.add(path)
            continue
        try:
            waiting.extend((also, value, path) for also in _same_place(root, schema))
        except Conflict:  # a reference that can't be followed could say anything
            found.add(path)
        if isinstance(value, Mapping | list):
            held = cast("dict[str, Any] | list[Any]", value)
            every = _of_every(schema)
            looks += len(held) * (1 + len(every))
            if looks > _MAX_LOOKS or len(seen) > _MAX_LOOKS:
                found.add(path)
            else:
                waiting.extend(_inside(schema, every, held, path))
    return found


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


def _of_every(schema: Schema) -> list[object]:
    """The parts that are about any of the values in a value."""
    every = [schema[key] for key in _EVERY if isinstance(schema.get(key), dict)]
    return [*every, *cast("dict[str, object]", schema.get("patternProperties", {})).values()]


def _inside(
    schema: Schema, every: list[object], held: dict[str, Any] | list[Any], path: Path
) -> Iterator[tuple[object, Any, Path]]:
    """The parts of the schema that may be about the values in a value."""
    first = schema.get("prefixItems", schema.get("items"))
    named = cast("dict[str, object]", schema.get("properties", {}))
    for name, item in enumerate(held) if isinstance(held, list) else held.items():
        yield from ((part, item, (*path, str(name))) for part in every)
        if isinstance(name, str) and name in named:
            yield named[name], item, (*path, name)
        elif isinstance(name, int) and isinstance(first, list) and first:
            listed = cast("list[object]", first)
            yield listed[min(name, len(listed) - 1)], item, (*path, str(name))
