"""What nobody may see (hidden by the policy, `writeOnly`, `format: password`), and what must not change."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, cast

from hitl_core.jsonschema.flatten import Schema
from hitl_core.jsonschema.marked_paths import Path, marked
from hitl_core.jsonschema.pointer import parse_pointer

HIDDEN = "(hidden)"
#: At the root of a schema that may hide nothing (`forms.unsaid`).
NO_TEXTS_MARK = "x-hitl-unsaid"


def is_secret(schema: Schema) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def is_fixed(schema: Schema) -> bool:
    return schema.get("readOnly") is True


class ProtectedPaths:
    """Where in the arguments something is hidden, and where something must not change."""

    def __init__(
        self, root: Mapping[str, Any], args: Mapping[str, Any], redact: Collection[str]
    ) -> None:
        text = json.dumps(dict(root))
        self._hidden_paths: set[Path] = {tuple(parse_pointer(pointer)) for pointer in redact}
        #: Whether more is hidden than the schema says, since nobody can tell what it says of these arguments.
        self.is_unclear = False
        if root.get(NO_TEXTS_MARK) is not True and (
            '"writeOnly": true' in text or '"password"' in text
        ):
            found, self.is_unclear = marked(root, args, is_secret)
            self._hidden_paths |= found
        self.fixed_paths = set[Path]()
        if '"readOnly": true' in text:
            self.fixed_paths, _ = marked(root, args, is_fixed)

    def is_hidden_path(self, names: Path) -> bool:
        return any(names[:end] in self._hidden_paths for end in range(len(names) + 1))

    def find_hidden_below(self, names: Path, value: Any) -> list[Path]:
        """The ways, from the value that stands there, to what is hidden in it."""
        return [path for path in _paths_below(self._hidden_paths, names) if has_path(value, path)]

    def is_fixed_path(self, names: Path) -> bool:
        """Whether what stands there must not change."""
        return bool(self.fixed_paths) and any(
            names[:end] in self.fixed_paths for end in range(len(names) + 1)
        )

    def find_fixed_below(self, names: Path, value: Any) -> tuple[Path, ...]:
        """The ways to what must not change in it."""
        paths = _paths_below(self.fixed_paths, names)
        return tuple(path for path in paths if path and has_path(value, path))


def find_hidden(
    schema: Mapping[str, Any] | None, args: Mapping[str, Any], redact: Collection[str] = ()
) -> list[Path]:
    """The ways to what nobody may see of these arguments; `()` is all of them."""
    return ProtectedPaths(schema or {}, args, redact).find_hidden_below((), args)


def is_hiding_unclear(schema: Mapping[str, Any] | None, args: Mapping[str, Any]) -> bool:
    """Whether nobody can tell what the schema hides of these arguments: they are too large, or it has a
    reference that can't be followed. `hidden_in` hides too much then, so nobody may be asked about them.
    """
    return ProtectedPaths(schema or {}, args, ()).is_unclear


def mask_args(
    args: Mapping[str, Any], hidden: list[Path], placeholder: str = HIDDEN
) -> dict[str, Any]:
    """All arguments by their names, and the stand-in at the ends of these ways."""
    if () in hidden:
        return dict.fromkeys(args, placeholder)
    return mask_value(dict(args), hidden, placeholder)


def mask_value(value: Any, hidden: list[Path], placeholder: str = HIDDEN) -> Any:
    """A copy in which the stand-in stands at the ends of these ways."""
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


def _paths_below(paths: set[Path], names: Path) -> list[Path]:
    return [path[len(names) :] for path in paths if path[: len(names)] == names]
