"""A cache of the policies that are stored in reviews: one form, vote or edit uses the same one many times."""

from __future__ import annotations

from hitl_core.jsonschema import SizedCache
from hitl_core.policy.policy import Policy

#: The limit for the text of all cached policies, in characters.
_MAX_TEXT = 4 * 1024 * 1024

_policies: SizedCache[str, tuple[Policy, int]] = SizedCache(_MAX_TEXT, lambda kept: kept[1])


def load_kept_policy(excerpt: str) -> Policy:
    """The policy that `Policy.excerpt` wrote. Do not change it: it is shared."""
    return _policies.get(excerpt, lambda: (Policy.from_excerpt(excerpt), len(excerpt)))[0]
