"""The policies that reviews keep, each read once: a form, a vote and an edit ask the same one many times."""

from __future__ import annotations

from hitl_core.jsonschema.sized_cache import Recent
from hitl_core.policy.policy import Policy

#: How much text the policies that are remembered were read from, in characters.
_MAX_TEXT = 4 * 1024 * 1024

_policies: Recent[str, tuple[Policy, int]] = Recent(_MAX_TEXT, lambda kept: kept[1])


def load_kept_policy(excerpt: str) -> Policy:
    """What `Policy.excerpt` wrote. Nobody changes it: others judge by it as well."""
    return _policies.get(excerpt, lambda: (Policy.from_excerpt(excerpt), len(excerpt)))[0]
