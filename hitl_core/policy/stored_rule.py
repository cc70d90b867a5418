"""Writes a rule as plain JSON and reads it back. A review stores the rules that judge its edits."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Literal

from hitl_core.model import DecisionType, DialectName, Output, Route, Value
from hitl_core.policy.rule import CallContext, PredicateLost, Rule, SchemaWhen


class StoredRule(Value):
    """The fields of a Rule. `when` is a JSON Schema. `lost`: the `when` was Python code, which can't be
    stored, so the rule may match any call. A `description` that is Python code is not stored.
    """

    name: str | None
    kind: Literal["allow", "review", "deny"]
    line: int | None
    prefix: str
    route: Route
    description: str | None
    when: dict[str, Any] | None
    lost: bool
    allowed_decisions: tuple[DecisionType, ...]
    args_schema: dict[str, Any] | None
    reject_reason: Literal["optional", "required"]
    must_read: bool
    confirm: bool
    redact: tuple[str, ...]
    says_reviewers: bool
    needs_requester: bool
    idempotent: bool
    answer_schema: dict[str, Any] | None
    output: Output | None
    dialect: DialectName | None
    extra: dict[str, Any] | None
    trusts_tools: bool


_SHARED_FIELDS = [field.name for field in fields(Rule) if field.name not in ("when", "description")]


def dump_rule(rule: Rule) -> dict[str, Any]:
    """The rule as plain JSON. It shares no object with the rule."""
    when = rule.when
    kept = StoredRule(
        **{name: getattr(rule, name) for name in _SHARED_FIELDS},
        description=rule.description if isinstance(rule.description, str) else None,
        when=when.schema if isinstance(when, SchemaWhen) else None,
        lost=when is not None and not isinstance(when, SchemaWhen),
    )
    return kept.model_dump(mode="json")


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
