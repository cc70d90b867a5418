"""Reads one entry of `interrupt_on`, for a tool or a glob, as a Rule."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from hitl_core.model import DECISION_TYPES, DecisionType, Output, Reviewers
from hitl_core.policy.reader.config_node import (
    ConfigNode,
    format_value,
    join_choices,
    read_field,
    suggest,
)
from hitl_core.policy.reader.config_values import read_pointers
from hitl_core.policy.reader.display import read_display
from hitl_core.policy.reader.route import KEYS as ROUTE_KEYS
from hitl_core.policy.reader.route import excludes_requester, read_route
from hitl_core.policy.rule import DEFAULT_DECISIONS, Rule, RuleFunction, SchemaWhen
from hitl_core.policy.schemas import find_answer_problem, find_problem, make_budget

KEYS = (
    "allowed_decisions",
    "description",
    "when",
    "args_schema",
    "answer_schema",
    "output",
    "reject_reason",
    "must_read",
    "confirm",
    "redact",
    "display",
    "hide_when_decided",
    "idempotent",
    *ROUTE_KEYS,
)
_REASONS: tuple[Literal["optional", "required"], ...] = ("optional", "required")
_INTO_VALUES: tuple[Literal["state", "input"], ...] = ("state", "input")
#: Other names of our decisions, for a hint.
_SYNONYMS = {"accept": "approve", "response": "respond", "deny": "reject"}


def read_rule(name: str, node: ConfigNode, default: Rule) -> Rule | None:
    """The rule, with what it doesn't say from `default`; None, with a reported problem, if the entry has the
    wrong type.
    """
    value = node.value
    if isinstance(value, bool):
        kind = "review" if value else "allow"
    elif value == "deny":
        kind = "deny"
    else:
        return _read_mapping(name, node, default)
    return replace(default, name=name, kind=kind, line=node.line)


def _read_mapping(name: str, node: ConfigNode, default: Rule) -> Rule | None:
    if not isinstance(node.value, Mapping):
        hint = {"allow": " To allow it, write false.", "review": " To review it, write true."}
        node.add_problem(
            f"A rule must be true, false, `deny` or a mapping, not {node}."
            + (hint.get(node.value, "") if isinstance(node.value, str) else "")
        )
        return None
    fields = node.fields(KEYS)
    decisions = read_field(fields, "allowed_decisions", read_decisions, DEFAULT_DECISIONS)
    answer_schema = _read_answer_schema(fields, decisions)
    route = read_route(fields, default.route)
    _check_reviewers(fields, node, route.reviewers, decisions)
    return replace(
        default,
        name=name,
        kind="review",
        line=node.line,
        route=route,
        says_reviewers="reviewers" in fields,
        needs_requester=excludes_requester(fields, default.needs_requester),
        description=read_field(fields, "description", _read_description),
        when=read_field(fields, "when", _read_when),
        allowed_decisions=decisions,
        args_schema=read_field(fields, "args_schema", read_args_schema),
        answer_schema=answer_schema,
        output=_read_output(fields, decisions, answer_schema),
        reject_reason=read_field(fields, "reject_reason", _read_reject_reason) or "optional",
        must_read=read_field(fields, "must_read", ConfigNode.boolean),
        confirm=read_field(fields, "confirm", ConfigNode.boolean) or False,
        redact=read_field(fields, "redact", read_pointers, ()),
        display=read_field(fields, "display", read_display, ()),
        hide_when_decided=read_field(
            fields, "hide_when_decided", ConfigNode.boolean, default.hide_when_decided
        )
        or False,
        idempotent=read_field(fields, "idempotent", ConfigNode.boolean) or False,
    )


def _check_reviewers(
    fields: dict[str, ConfigNode],
    node: ConfigNode,
    reviewers: Reviewers,
    allowed: tuple[DecisionType, ...],
) -> None:
    """Report rules where another person must approve an edit or an answer, but can't."""
    alone = reviewers.quorum == 1 and reviewers.editor_approves
    where = fields.get("reviewers") or fields.get("allowed_decisions") or node
    if "edit" in allowed and "approve" not in allowed and not alone:
        where.add_problem(
            "Other people must approve an edit here, so add `approve` to `allowed_decisions`."
        )
    if "answer_schema" in fields and "approve" in allowed and reviewers.quorum > 1:
        where.add_problem("The tool runs with the answer of one person, so the `quorum` must be 1.")


def _read_reject_reason(node: ConfigNode) -> Literal["optional", "required"] | None:
    return node.one_of(_REASONS)


def read_decisions(
    node: ConfigNode, known: tuple[DecisionType, ...] = DECISION_TYPES
) -> tuple[DecisionType, ...]:
    """A list of decisions. `known` are those of the system whose format this is."""
    nodes = node.items("[approve, reject]")
    if nodes == []:
        node.add_problem("This list is empty, so nobody could decide. Add at least one decision.")
    decisions: list[DecisionType] = []
    for each in nodes or []:
        decision: DecisionType | None = next((t for t in known if t == each.value), None)
        if decision is None:
            ours = _SYNONYMS.get(each.value) if isinstance(each.value, str) else None
            hint = f" Did you mean `{ours}`?" if ours in known else suggest(each.value, known)
            each.add_problem(f"{each} is not a decision. Use {join_choices(known)}.{hint}")
        elif decision in decisions:
            each.add_problem(f"{format_value(decision)} appears twice: remove one.")
        else:
            decisions.append(decision)
    return tuple(decisions)


def _read_description(node: ConfigNode) -> str | RuleFunction | None:
    if callable(node.value):
        return _call_with_copy(node.value)
    return (node.text() or "").strip() or None


def _read_when(node: ConfigNode) -> RuleFunction | None:
    if callable(node.value):
        return _call_with_copy(node.value)
    return read_when_schema(node)


def read_when_schema(node: ConfigNode) -> RuleFunction | None:
    """A `when` that is a JSON Schema for the arguments."""
    schema = read_args_schema(node)
    if schema == {}:
        node.add_problem("An empty `when` always matches: remove it.")
    return SchemaWhen.from_schema(schema) if schema else None


def _call_with_copy(function: Callable[..., object]) -> RuleFunction:
    """The function gets a copy, so it can't change the arguments that will run."""
    return lambda context: function(copy.deepcopy(context.call.args))


def _read_answer_schema(
    fields: dict[str, ConfigNode], allowed: tuple[DecisionType, ...]
) -> dict[str, Any] | None:
    """The schema of a person's own answer. The answer replaces the tool's result (respond), or the tool runs
    with it (approve).
    """
    schema = read_field(fields, "answer_schema", read_schema)
    if schema is not None and (problem := find_answer_problem(schema)):
        fields["answer_schema"].add_problem(problem)
    runs_with_it = "approve" in allowed and {*allowed} <= {"approve", "reject"}
    if schema is not None and allowed and allowed != ("respond",) and not runs_with_it:
        fields["answer_schema"].add_problem(
            "An `answer_schema` needs `allowed_decisions: [respond]` (the answer replaces the tool's result),"
            " or `[approve, reject]` (the tool runs with the answer)."
        )
    return schema


def _read_output(
    fields: dict[str, ConfigNode], allowed: tuple[DecisionType, ...], schema: dict[str, Any] | None
) -> Output | None:
    """Where the answer is written."""
    if (node := fields.get("output")) is None:
        return None
    parts = node.fields(("key", "into"), required=("key", "into"))
    key = read_field(parts, "key", ConfigNode.text)
    into = read_field(parts, "into", _read_into)
    if "answer_schema" not in fields:
        node.add_problem("An `output` is for a person's answer, so it needs an `answer_schema`.")
    elif into == "input" and "approve" not in allowed:
        parts["into"].add_problem(
            "The tool never runs here: `into: input` needs `approve` in `allowed_decisions`."
        )
    return Output(key=key, into=into) if key and into else None


def _read_into(node: ConfigNode) -> Literal["state", "input"] | None:
    return node.one_of(_INTO_VALUES)


def read_args_schema(node: ConfigNode) -> dict[str, Any] | None:
    """A JSON Schema for arguments, so an object must be able to satisfy it."""
    schema = read_schema(node)
    types = (schema or {}).get("type", "object")
    if schema is None or types == "object" or (not isinstance(types, str) and "object" in types):
        return schema
    return node.add_problem(
        "No arguments can satisfy this: they are an object, so `type` must be `object`."
    )


def read_schema(node: ConfigNode) -> dict[str, Any] | None:
    """A JSON Schema. An unknown keyword is an error: in a policy it is probably a spelling mistake."""
    value = node.value
    if not isinstance(value, dict):
        return node.add_problem(f"This must be a JSON Schema, which is a mapping, not {node}.")
    schema, report = cast(dict[str, Any], value), node.report
    if report.bounded and report.budget is None:
        report.budget = make_budget()
    problem = find_problem(schema, strict=True, budget=report.budget)
    if problem is not None:
        return node.add_problem(problem)
    return json.loads(json.dumps(schema))  # a copy of plain JSON values: text keys, no tuples
