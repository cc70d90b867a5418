"""Which values an edit must keep: those that the schema calls `readOnly`, and those that nobody may see."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from hitl_core.forms.edit_args import value_at
from hitl_core.forms.slot import ABSENT
from hitl_core.jsonschema.hidden import HIDDEN, Path, ProtectedPaths

Json = Mapping[str, Any]


def find_fixed(schema: Json | None, args: Json) -> list[Path]:
    """The ways to the values of these arguments that must not change: wherever any part of the schema that
    may be about a value says `readOnly`, through references, alternatives, conditions, lists and patterns.
    What there is no time to look into counts as fixed. `()` is all of them.
    """
    return sorted(ProtectedPaths(schema or {}, args, ()).fixed_paths)


def find_changed_fixed(schema: Json | None, before: Json, after: Json) -> Path | None:
    """The way to a value that must not change, and that was changed, added, taken away or moved; None where
    there is none.
    """
    paths = {*find_fixed(schema, before), *find_fixed(schema, after)}
    return next((path for path in sorted(paths) if not _are_equal(before, after, path)), None)


def find_lost_hidden(hidden: Collection[Path], before: Json, after: Json) -> Path | None:
    """The way to a value that its editor could not see, and that is gone, or is now what stood in its place.
    Another value was written on purpose.
    """
    for path in sorted(hidden):
        value = value_at(after, path)
        lost = value is ABSENT or value == HIDDEN
        if lost and value_at(before, path) is not ABSENT and not _are_equal(before, after, path):
            return path
    return None


def _are_equal(before: Json, after: Json, path: Path) -> bool:
    return _to_json(value_at(before, path)) == _to_json(value_at(after, path))


def _to_json(value: Any) -> str:
    return "" if value is ABSENT else json.dumps(value, sort_keys=True)
