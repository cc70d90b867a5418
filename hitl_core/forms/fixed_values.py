"""Finds the values that an edit must keep: `readOnly` ones and hidden ones."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from hitl_core.forms.edit_args import value_at
from hitl_core.forms.slot import ABSENT
from hitl_core.jsonschema import HIDDEN, Path, find_fixed

Json = Mapping[str, Any]


def find_changed_fixed(schema: Json | None, before: Json, after: Json) -> Path | None:
    """The path to a fixed value that was changed, added, removed or moved; None if there is none."""
    paths = find_fixed(schema, before, after)
    return next((path for path in paths if not _are_equal(before, after, path)), None)


def find_lost_hidden(hidden: Collection[Path], before: Json, after: Json) -> Path | None:
    """The path to a hidden value that was removed, or replaced by its placeholder; None if there is none. A
    different new value is allowed: the editor wrote it on purpose.
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
