"""The policy that is stored in a review: the rules for some tools, as JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hitl_core.jsonschema import SizedCache
from hitl_core.policy.policy import Policy
from hitl_core.policy.reader import ParsedConfig
from hitl_core.policy.rule_index import RuleIndex, until_unconditional
from hitl_core.policy.stored_rule import dump_rule, load_rule

#: The limit for the text of all cached policies, in characters.
_MAX_TEXT = 4 * 1024 * 1024


def dump_excerpt(policy: Policy, tools: Iterable[str]) -> str:
    """The rules for these tools, with those of the run's context, as JSON text. A policy that is made of it
    judges calls of these tools in the same way. A `when` that is Python code can't be stored: then the rule
    may match any call, which is only stricter.
    """
    names = tuple(tools)
    kept: dict[str, Any] = {
        "default": dump_rule(policy.default),
        "rules": _dump_rules(policy.rule_index, names),
    }
    if policy.run_context is not None:
        default, prefix = policy.run_context.default, policy.run_context.prefix
        kept["over"] = {
            "default": default and dump_rule(default),
            "rules": _dump_rules(policy.run_context.rule_index, names),
            "prefix": prefix,
            "replaces": policy.allow_override,
        }
    return json.dumps(kept)


def load_excerpt(text: str) -> Policy:
    """Read the text that `dump_excerpt` wrote."""
    kept: dict[str, Any] = json.loads(text)
    over = kept.get("over")
    return Policy(
        "the review",
        load_rule(kept["default"]),
        tuple(map(load_rule, kept["rules"])),
        digest="",
        allow_override=bool(over and over["replaces"]),
        run_context=over
        and ParsedConfig(
            over["default"] and load_rule(over["default"]),
            tuple(map(load_rule, over["rules"])),
            over["prefix"],
        ),
    )


def load_kept_policy(excerpt: str) -> Policy:
    """The same, from a cache: one form, vote or edit uses a policy many times. Do not change it: it is
    shared.
    """
    return _policies.get(excerpt, lambda: (load_excerpt(excerpt), len(excerpt)))[0]


def _dump_rules(rules: RuleIndex, tools: Iterable[str]) -> list[dict[str, Any]]:
    """The rules that can match one of these tools, each once, in the policy's order."""
    rules_by_id = {
        id(rule): rule for tool in tools for rule in until_unconditional(rules.rules_for(tool))
    }
    return [dump_rule(rule) for rule in rules.sort_rules(rules_by_id.values())]


_policies: SizedCache[str, tuple[Policy, int]] = SizedCache(_MAX_TEXT, lambda kept: kept[1])
