"""A compiled schema."""

from __future__ import annotations

from typing import NamedTuple

from hitl_core.jsonschema.problem import Check


class CompiledNode(NamedTuple):
    """A compiled schema. All values of the Python types in `accepted_types` are valid, so they need no
    check.
    """

    check: Check
    accepted_types: frozenset[type] = frozenset()
