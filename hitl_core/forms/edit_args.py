"""Sets and removes single values of arguments, and compares arguments before and after an edit: what the edit
removes, and whether it keeps `readOnly` and hidden values. The inputs are never changed.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, cast

from hitl_core.forms.field import ABSENT, OnClear
from hitl_core.jsonschema import (
    HIDDEN,
    Path,
    cut_at_hidden,
    find_fixed,
    format_path,
    has_path,
    to_pointer,
    value_at,
)

Json = dict[str, Any]
#: Characters that are invisible, although Unicode calls them letters, marks or symbols; and variation
#: selectors.
_FILLERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U00013441\U00013442\U00016fe4\U0001d159"
).union(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


def set_value(args: Json, names: tuple[str, ...], value: Any) -> Json:
    """A copy with the value at this path. Missing objects on the path are created."""
    first, *rest = names
    if not rest:
        return {**args, first: value}
    inner = args.get(first)
    held = cast(Json, inner) if isinstance(inner, dict) else {}
    return {**args, first: set_value(held, tuple(rest), value)}


def remove_value(args: Json, names: tuple[str, ...], parent_on_clear: tuple[OnClear, ...]) -> Json:
    """A copy without the value at this path. If an object becomes empty, `parent_on_clear` says what happens
    to it.
    """
    first, *rest = names
    if first not in args:
        return args
    if not rest:
        return {name: value for name, value in args.items() if name != first}
    inner = args[first]
    if not isinstance(inner, dict):
        return args
    left = remove_value(cast(Json, inner), tuple(rest), parent_on_clear[1:])
    if left or parent_on_clear[1] not in ("leave", "null"):
        return {**args, first: left}
    return (
        set_value(args, (first,), None)
        if parent_on_clear[1] == "null"
        else remove_value(args, (first,), parent_on_clear)
    )


def find_removed(before: Json, after: Json) -> tuple[str, ...]:
    """Pointers to everything that an edit removes, in the order of `before`. Only the outermost values are
    listed.

    Removed are: missing values and list items; values that became empty (null, blanks); objects and lists
    that became another type.
    """
    return tuple(map(to_pointer, _compare_objects(before, after, ())))


def name_removed(before: Json, after: Json, hidden: Collection[str]) -> list[str]:
    """The names of what an edit removes (`find_removed`), for people. Something inside a hidden value is
    named only by the hidden value. `hidden`: the pointers of the hidden values of `before`.
    """
    removed = [(cut_at_hidden(each, hidden), each) for each in find_removed(before, after)]
    parts = dict.fromkeys((visible, visible == pointer) for visible, pointer in removed)
    names = [(format_path(visible) or "the arguments", is_all) for visible, is_all in parts]
    return [name if is_all else f"a hidden part of {name}" for name, is_all in names]


def _compare_values(before: Any, after: Any, path: Path) -> Iterator[Path]:
    if after is ABSENT or (_is_empty(after) and not _is_empty(before)):
        yield path
    elif isinstance(before, dict) and isinstance(after, dict):
        yield from _compare_objects(cast(Json, before), cast(Json, after), path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _items(cast(list[Any], before), cast(list[Any], after), path)
    elif isinstance(before, dict | list) and before:
        yield path


def _compare_objects(before: Json, after: Json, path: Path) -> Iterator[Path]:
    for name, value in before.items():
        yield from _compare_values(value, after.get(name, ABSENT), (*path, name))


def _items(before: list[Any], after: list[Any], path: Path) -> Iterator[Path]:
    """An old item that is anywhere in the new list is kept. Other old items are matched with new items in
    order. Old items without a match are removed.
    """
    kept, new = Counter(map(_to_json, before)) & Counter(map(_to_json, after)), list[Any]()
    left = kept.copy()
    for item in after:
        if left[_to_json(item)] > 0:
            left[_to_json(item)] -= 1
        else:
            new.append(item)
    others = iter(new)
    for number, item in enumerate(before):
        if kept[_to_json(item)] > 0:
            kept[_to_json(item)] -= 1
        else:
            yield from _compare_values(item, next(others, ABSENT), (*path, str(number)))


def _is_empty(value: Any) -> bool:
    """Whether the value has no content, or only invisible characters."""
    if isinstance(value, str):
        return all(_is_blank(each) for each in value)
    return value is None or value in ([], {})


def _is_blank(character: str) -> bool:
    """Whether the character is invisible: a space, a control or format character, or one of `_FILLERS`."""
    return unicodedata.category(character)[0] in "ZC" or character in _FILLERS


def find_changed_fixed(
    schemas: Iterable[Mapping[str, Any] | None],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> Path | None:
    """The path to a value that any schema says is fixed and that was changed, added, removed or moved; None
    if there is none.
    """
    paths = find_fixed(schemas, before, after)
    return next((path for path in paths if not is_kept(before, after, path)), None)


def find_lost_hidden(
    hidden: Collection[Path], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Path | None:
    """The path to a hidden value that was removed, or replaced by its placeholder; None if there is none. A
    different new value is allowed: the editor wrote it on purpose.
    """
    for path in sorted(hidden):
        value = value_at(after, path, ABSENT)
        lost = value is ABSENT or value == HIDDEN
        if lost and has_path(before, path) and not is_kept(before, after, path):
            return path
    return None


def is_kept(before: Any, after: Any, path: Path) -> bool:
    """Whether the value at this path is the same, or absent in both."""
    return _to_json(value_at(before, path, ABSENT)) == _to_json(value_at(after, path, ABSENT))


def _to_json(value: Any) -> str:
    return "" if value is ABSENT else json.dumps(value, sort_keys=True)
