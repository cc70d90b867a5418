"""Finds the values of some arguments that a schema marks, for example as `writeOnly`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, cast

from hitl_core.jsonschema.errors import PatternError
from hitl_core.jsonschema.flatten import Schema
from hitl_core.jsonschema.limits import Budget, TooMuchWork
from hitl_core.jsonschema.marked_parts import Part, find_parts_with_marks
from hitl_core.jsonschema.patterns import cost_of, search

Path = tuple[str, ...]
_MAX_LOOKS = 5_000  # pairs of a value and a part of the schema
_MAX_STEPS = 20_000  # for matching names with patterns
_NO_LIMIT = 10**9


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
    form than the object or list of which parts are marked (a text, a number, a list in place of an object),
    the values in question count as marked and the result is unclear. A text or number that a `type` beside
    the object names is no other form, but JSON in a text is. The `budget` pays a step for each part, and for
    each pair of a part and a value; TooMuchWork is raised if it is not enough.
    """
    parts_by_id = find_parts_with_marks(root, test)
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
        forms = part.forms
        if isinstance(value, forms) or (isinstance(value, part.plain) and not _may_be_json(value)):
            fitting.add(path)
        elif forms and not is_empty(value):
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


def is_empty(value: object) -> bool:
    """Whether nothing is in it, so that no part of it can be missed."""
    return value is None or isinstance(value, bool) or value in ("", [], {})


def _may_be_json(value: object) -> bool:
    """Whether a text has an object or list in it, as models often write one."""
    return isinstance(value, str) and value.lstrip()[:1] in ("{", "[")


def _inner_values(
    part: Part, value: Any, path: Path, names: _Names
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


def _property_parts(part: Part, name: str, names: _Names) -> Iterator[object]:
    """The inner parts for this property, by patterns or by `additionalProperties` and similar keywords."""
    yield from (each for pattern, each in part.patterns if names.match(pattern, name, doubt=True))
    if not part.others or name in part.names:
        return
    if not any(names.match(pattern, name, doubt=False) for pattern in part.expressions):
        yield from part.others
