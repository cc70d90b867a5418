"""What nobody may see (hidden by the policy, `writeOnly`, `format: password`), and what must not change."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, cast

from hitl_core.forms.marked import Path, marked
from hitl_core.forms.pointer import parts
from hitl_core.forms.shape import Schema

HIDDEN = "(hidden)"
#: At the root of a schema that may hide nothing (`forms.unsaid`).
MARK = "x-hitl-unsaid"


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
            found, self.unclear = marked(root, args, is_secret)
            self._hidden |= found
        self.fixed = set[Path]()
        if '"readOnly": true' in text:
            self.fixed, _ = marked(root, args, is_fixed)

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
