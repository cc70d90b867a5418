"""The policy that is stored in a review, as JSON text: the rules for some tools, which judge its edits."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, Literal
from weakref import WeakKeyDictionary

from hitl_core.jsonschema import SizedCache
from hitl_core.model import DecisionType, DialectName, DisplayHint, Output, Route, Value
from hitl_core.policy.policy import Policy
from hitl_core.policy.reader import ParsedConfig
from hitl_core.policy.rule import (
    DEFAULT_DECISIONS,
    CallContext,
    PredicateLost,
    Rule,
    SchemaWhen,
)
from hitl_core.policy.rule_index import RuleIndex, until_unconditional

#: The limit for the text of all cached policies, in characters.
_MAX_TEXT = 4 * 1024 * 1024


def dump_kept_policy(policy: Policy, tools: Iterable[str]) -> str:
    """The rules for these tools, and those of the run's context, as JSON text. A policy that is loaded from
    it judges calls of these tools in the same way. A `when` that is Python code can't be stored: then the
    rule may match any call, which can only be stricter.
    """
    names = tuple(tools)
    kept = {
        "default": _rule_text(policy.default),
        "rules": _rules_text(policy.rule_index, names),
    }
    if policy.run_context is not None:
        default, prefix = policy.run_context.default, policy.run_context.prefix
        over = {
            "default": "null" if default is None else _rule_text(default),
            "rules": _rules_text(policy.run_context.rule_index, names),
            "prefix": _to_json(prefix),
            "replaces": _to_json(policy.allow_override),
        }
        kept["over"] = _object_text(over)
    return _object_text(kept)


def parse_kept_policy(text: str) -> Policy:
    """Read the text that `dump_kept_policy` wrote."""
    kept: dict[str, Any] = json.loads(text)
    over = kept.get("over")
    return Policy(
        "the review",
        load_rule(kept["default"]),
        tuple(map(load_rule, kept["rules"])),
        hash="",
        allow_override=bool(over and over["replaces"]),
        run_context=over
        and ParsedConfig(
            over["default"] and load_rule(over["default"]),
            tuple(map(load_rule, over["rules"])),
            over["prefix"],
        ),
    )


def load_kept_policy(text: str) -> Policy:
    """Like `parse_kept_policy`, with a cache: one form, vote or edit uses a policy many times. Callers share
    the policy, so do not change it.
    """
    return _policies.get(text, lambda: (parse_kept_policy(text), len(text)))[0]


def _rules_text(rules: RuleIndex, tools: Iterable[str]) -> str:
    """The rules that can match one of these tools, each once, in the policy's order."""
    rules_by_id = {
        id(rule): rule for tool in tools for rule in until_unconditional(rules.rules_for(tool))
    }
    return f"[{','.join(map(_rule_text, rules.sort_rules(rules_by_id.values())))}]"


def _rule_text(rule: Rule) -> str:
    """A rule never changes, so its text is written once and cached as long as the rule lives."""
    text = _rule_texts.get(rule)
    if text is None:
        text = _rule_texts[rule] = _to_json(dump_rule(rule))
    return text


def _object_text(parts: dict[str, str]) -> str:
    return "{" + ",".join(f'"{key}":{text}' for key, text in parts.items()) + "}"


def _to_json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


_rule_texts = WeakKeyDictionary[Rule, str]()
_policies: SizedCache[str, tuple[Policy, int]] = SizedCache(_MAX_TEXT, lambda kept: kept[1])


class StoredRule(Value):
    """The fields of a Rule. `when` is a JSON Schema. `lost`: the `when` was Python code, which can't be
    stored, so the rule may match any call. A `description` that is Python code is not stored.

    A default value is not stored. It is the default of Rule, and may change only together with the schema
    version of reviews.
    """

    name: str | None = None
    kind: Literal["allow", "review", "deny"]
    line: int | None = None
    prefix: str
    route: Route
    description: str | None = None
    when: dict[str, Any] | None = None
    lost: bool = False
    allowed_decisions: tuple[DecisionType, ...] = DEFAULT_DECISIONS
    args_schema: dict[str, Any] | None = None
    reject_reason: Literal["optional", "required"] = "optional"
    must_read: bool | None = None
    confirm: bool = False
    redact: tuple[str, ...] = ()
    display: tuple[DisplayHint, ...] = ()
    says_reviewers: bool = False
    needs_requester: bool = False
    idempotent: bool = False
    answer_schema: dict[str, Any] | None = None
    output: Output | None = None
    dialect: DialectName | None = None
    extra: dict[str, Any] | None = None
    trusts_tools: bool = False
    hide_when_decided: bool = False


_SHARED_FIELDS = [field.name for field in fields(Rule) if field.name not in ("when", "description")]


def dump_rule(rule: Rule) -> dict[str, Any]:
    """The rule as plain JSON, without defaults. It shares no object with the rule."""
    when = rule.when
    kept = StoredRule(
        **{name: getattr(rule, name) for name in _SHARED_FIELDS},
        description=rule.description if isinstance(rule.description, str) else None,
        when=when.schema if isinstance(when, SchemaWhen) else None,
        lost=when is not None and not isinstance(when, SchemaWhen),
    )
    return kept.model_dump(mode="json", exclude_defaults=True)


def load_rule(data: object) -> Rule:
    """The rule that `dump_rule` wrote. If its `when` was Python code, it may match any call. Raises
    pydantic's ValidationError for other data.
    """
    kept = StoredRule.model_validate(data)
    rule = Rule(
        **{name: getattr(kept, name) for name in _SHARED_FIELDS}, description=kept.description
    )
    if kept.lost:
        return replace(rule, when=_raise_lost)
    return rule if kept.when is None else replace(rule, when=SchemaWhen.from_schema(kept.when))


def _raise_lost(context: CallContext) -> object:
    raise PredicateLost
