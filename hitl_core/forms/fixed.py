"""Which values an edit must keep: those that the schema calls `readOnly`, and those that nobody may see."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from hitl_core.forms.change import at
from hitl_core.forms.secrets import HIDDEN, Marks, Path
from hitl_core.forms.slot import ABSENT

Json = Mapping[str, Any]


def fixed_paths(schema: Json | None, args: Json) -> list[Path]:
    """The ways to the values of these arguments that must not change: wherever any part of the schema that
    may be about a value says `readOnly`, through references, alternatives, conditions, lists and patterns.
    What there is no time to look into counts as fixed. `()` is all of them.
    """
    return sorted(Marks(schema or {}, args, ()).fixed)


def change_of_fixed(schema: Json | None, before: Json, after: Json) -> Path | None:
    """The way to a value that must not change, and that was changed, added, taken away or moved; None where
    there is none.
    """
    paths = {*fixed_paths(schema, before), *fixed_paths(schema, after)}
    return next((path for path in sorted(paths) if not _same(before, after, path)), None)


def loss_of_hidden(hidden: Collection[Path], before: Json, after: Json) -> Path | None:
    """The way to a value that its editor could not see, and that is gone, or is now what stood in its place.
    Another value was written on purpose.
    """
    for path in sorted(hidden):
        now = at(after, path)
        lost = now is ABSENT or now == HIDDEN
        if lost and at(before, path) is not ABSENT and not _same(before, after, path):
            return path
    return None


def _same(before: Json, after: Json, path: Path) -> bool:
    return _bytes(at(before, path)) == _bytes(at(after, path))


def _bytes(value: Any) -> str:
    return "" if value is ABSENT else json.dumps(value, sort_keys=True)
