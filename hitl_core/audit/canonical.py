"""Canonical JSON: one spelling of each object, so that its hash is the same on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

JsonObject = dict[str, Any]


def to_canonical_json(value: Mapping[str, Any]) -> str:
    """RFC 8785, for objects with ASCII keys whose numbers are integers or times."""
    plain = {key: _plain(each) for key, each in value.items()}
    return json.dumps(
        plain, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def hash_of(value: Mapping[str, Any]) -> str:
    """The SHA-256 of its canonical JSON in UTF-8, in hex."""
    return hashlib.sha256(to_canonical_json(value).encode()).hexdigest()


def _plain(value: object) -> object:
    """RFC 8785 writes numbers as JavaScript does: 5, never 5.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
