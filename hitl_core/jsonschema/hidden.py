"""Finds the hidden values of arguments (`redact`, `writeOnly`, `format: password`), and the values that must
not change (`readOnly`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, cast

from hitl_core.jsonschema.errors import parse_pointer, read_index
from hitl_core.jsonschema.flatten import Schema
from hitl_core.jsonschema.limits import Budget
from hitl_core.jsonschema.marked_paths import Path, find_marked_paths, is_empty

HIDDEN = "(hidden)"
#: This key at the root of a schema means that the schema can't hide values (see `forms.strip_texts`).
NO_TEXTS_MARK = "x-hitl-unsaid"
_ABSENT = object()
_Schemas = Iterable[Mapping[str, Any] | None]


def is_secret(schema: Schema) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def is_fixed(schema: Schema) -> bool:
    return schema.get("readOnly") is True


class ProtectedPaths:
    """The paths in some arguments to hidden values, and to values that must not change."""

    def __init__(
        self, root: Mapping[str, Any], args: Mapping[str, Any], redact: Collection[str]
    ) -> None:
        text = json.dumps(dict(root))
        has_secrets = _has_secrets(text)
        #: Whether the schema can hide a value, or forbid its change, also for values that the arguments don't
        #: have.
        self.has_hidden_parts = has_secrets or bool(redact)
        self.has_fixed_parts = _has_fixed(text)
        pointers = [tuple(parse_pointer(pointer)) for pointer in redact]
        self._hidden_paths: set[Path] = {*pointers, *_present(args, pointers)}
        if has_secrets:
            self._hidden_paths |= _find_secrets(root, args)[0]
        self.fixed_paths = set[Path]()
        if self.has_fixed_parts:
            self.fixed_paths, _ = find_marked_paths(root, args, is_fixed)

    def is_hidden_path(self, names: Path) -> bool:
        return any(names[:end] in self._hidden_paths for end in range(len(names) + 1))

    def find_hidden_below(self, names: Path, value: Any) -> list[Path]:
        """The paths to hidden values inside the value at `names`, relative to it."""
        return [path for path in _paths_below(self._hidden_paths, names) if has_path(value, path)]

    def is_fixed_path(self, names: Path) -> bool:
        """Whether the value at `names` must not change."""
        return bool(self.fixed_paths) and any(
            names[:end] in self.fixed_paths for end in range(len(names) + 1)
        )

    def find_fixed_below(self, names: Path, value: Any) -> tuple[Path, ...]:
        """The paths inside the value at `names` to values that must not change, relative to it."""
        paths = _paths_below(self.fixed_paths, names)
        return tuple(path for path in paths if path and has_path(value, path))


def find_hidden(
    schemas: _Schemas, args: Mapping[str, Any], redact: Collection[str] = ()
) -> list[Path]:
    """The paths to the values that any of the schemas or `redact` hides. The path `()` means that all
    arguments are hidden. If a value on the way has another form (see `find_other_form`), all of it is hidden.
    """
    paths: set[Path] = {tuple(parse_pointer(pointer)) for pointer in redact}
    for schema in _select(schemas, _has_secrets):
        paths |= _find_secrets(schema, args)[0]
    return _present(args, paths)


def find_other_form(args: Mapping[str, Any], path: Path) -> Path | None:
    """The path to the value at which `path` can't go on, although it may contain what `path` leads to: a
    text, a number, a list in place of an object, or an object in place of a list. Models often write JSON
    into a text. None if there is none: the path leads to a value, or something on the way is absent or empty.
    """
    value: Any = args
    for depth, name in enumerate(path):
        if is_empty(value):
            return None
        wants_list = read_index(name) is not None
        if isinstance(value, dict | list) and has_path(value, (name,)):
            value = cast("Any", value[int(name)] if isinstance(value, list) else value[name])
        elif isinstance(value, list if wants_list else dict):
            return None  # a list without this item, or an object without this name
        else:
            return path[:depth]
    return None


def _present(args: Mapping[str, Any], paths: Iterable[Path]) -> list[Path]:
    """The paths that lead to a value, and those to values of another form in place of the others."""
    found = [path if has_path(args, path) else find_other_form(args, path) for path in paths]
    return [path for path in dict.fromkeys(found) if path is not None]


def find_fixed(schemas: _Schemas, *several: Mapping[str, Any]) -> list[Path]:
    """The paths to the values that must not change, in any of these arguments. A value is fixed if any part
    of a schema that may apply to it says `readOnly`, also through references, alternatives, conditions, lists
    and patterns. If this takes too long to find, the value counts as fixed. The path `()` means all
    arguments.
    """
    paths = list[Path]()
    for schema in _select(schemas, _has_fixed):
        paths += sorted(
            {path for args in several for path in find_marked_paths(schema, args, is_fixed)[0]}
        )
    return list(dict.fromkeys(paths))


def is_hiding_unclear(
    schemas: _Schemas, args: Mapping[str, Any], budget: Budget | None = None
) -> bool:
    """Whether it is unclear what the schemas hide: the arguments are too large, or a reference can't be
    followed. Then `find_hidden` hides too much, so people must not decide on these arguments. `budget`: see
    `find_marked_paths`.
    """
    return any(_find_secrets(schema, args, budget)[1] for schema in _select(schemas, _has_secrets))


def _select(schemas: _Schemas, test: Callable[[str], bool]) -> list[Mapping[str, Any]]:
    """The schemas whose JSON text passes the test, each once, because the same text marks the same values."""
    texts = {json.dumps(dict(schema)): schema for schema in schemas if schema is not None}
    return [schema for text, schema in texts.items() if test(text)]


def _has_secrets(text: str) -> bool:
    return '"writeOnly": true' in text or '"password"' in text


def _has_fixed(text: str) -> bool:
    return '"readOnly": true' in text


def _find_secrets(
    root: Mapping[str, Any], args: Mapping[str, Any], budget: Budget | None = None
) -> tuple[set[Path], bool]:
    """The paths that the schema hides, and whether this is unclear."""
    if root.get(NO_TEXTS_MARK) is True:
        return set(), False
    return find_marked_paths(root, args, is_secret, budget)


def mask_args(
    args: Mapping[str, Any], hidden: list[Path], placeholder: str = HIDDEN
) -> dict[str, Any]:
    """A copy of the arguments, with the placeholder at the hidden paths. The names of arguments always
    stay.
    """
    if () in hidden:
        return dict.fromkeys(args, placeholder)
    return mask_value(dict(args), hidden, placeholder)


def mask_value(value: Any, hidden: list[Path], placeholder: str = HIDDEN) -> Any:
    """A copy of the value, with the placeholder at the hidden paths."""
    if () in hidden:
        return placeholder
    if not hidden:
        return value
    below: dict[str, list[Path]] = {}
    for path in hidden:
        below.setdefault(path[0], []).append(path[1:])
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [
            mask_value(item, below.get(str(n), []), placeholder) for n, item in enumerate(items)
        ]
    named = cast("dict[str, Any]", value)
    return {
        name: mask_value(item, below.get(name, []), placeholder) for name, item in named.items()
    }


def has_path(value: Any, path: Path) -> bool:
    return value_at(value, path, _ABSENT) is not _ABSENT


def value_at(value: Any, path: Path, absent: Any) -> Any:
    """The value at this path; `absent` if there is none."""
    for name in path:
        if isinstance(value, list):
            items, index = cast("list[Any]", value), read_index(name)
            if index is None or index >= len(items):
                return absent
            value = items[index]
        elif isinstance(value, dict) and name in value:
            value = cast("dict[str, Any]", value)[name]
        else:
            return absent
    return value


def _paths_below(paths: set[Path], names: Path) -> list[Path]:
    return [path[len(names) :] for path in paths if path[: len(names)] == names]
