"""The entry of one tool or glob in `interrupt_on` → a Rule."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

from hitl_core.model import DECISION_TYPES, DecisionType, Output, Reviewers
from hitl_core.policy.node import Node, guess, listed, shown, take
from hitl_core.policy.reviewers import excludes_requester
from hitl_core.policy.route import KEYS as ROUTE_KEYS
from hitl_core.policy.route import read_route
from hitl_core.policy.rule import DEFAULT_DECISIONS, Ask, Rule, SchemaWhen
from hitl_core.policy.values import read_pointers

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
    "idempotent",
    *ROUTE_KEYS,
)
_REASONS: tuple[Literal["optional", "required"], ...] = ("optional", "required")
_INTO: tuple[Literal["state", "input"], ...] = ("state", "input")
#: What other systems and other words call the decisions.
_SYNONYMS = {"accept": "approve", "response": "respond", "deny": "reject"}


def read_rule(name: str, node: Node, default: Rule) -> Rule | None:
    """None, having reported it, where the entry is of no known kind."""
    value = node.value
    if isinstance(value, bool):
        kind = "review" if value else "allow"
    elif value == "deny":
        kind = "deny"
    else:
        return _read_mapping(name, node, default)
    return Rule(
        name=name,
        kind=kind,
        line=node.line,
        prefix=default.prefix,
        route=default.route,
        needs_requester=default.needs_requester,
        trusts_tools=default.trusts_tools,
    )


def _read_mapping(name: str, node: Node, default: Rule) -> Rule | None:
    if not isinstance(node.value, Mapping):
        hint = {"allow": " To allow it, write false.", "review": " To review it, write true."}
        node.problem(
            f"A rule is true, false, `deny` or a mapping, not {node}."
            + (hint.get(node.value, "") if isinstance(node.value, str) else "")
        )
        return None
    fields = node.fields(KEYS)
    allowed = take(fields, "allowed_decisions", read_decisions, DEFAULT_DECISIONS)
    answer_schema = _answer_schema(fields, allowed)
    route = read_route(fields, default.route)
    _check_reviewers(fields, node, route.reviewers, allowed)
    return Rule(
        name=name,
        kind="review",
        line=node.line,
        prefix=default.prefix,
        route=route,
        says_reviewers="reviewers" in fields,
        needs_requester=excludes_requester(fields, default.needs_requester),
        description=take(fields, "description", _description),
        when=take(fields, "when", _when),
        allowed_decisions=allowed,
        args_schema=take(fields, "args_schema", read_args_schema),
        answer_schema=answer_schema,
        output=_output(fields, allowed, answer_schema),
        reject_reason=take(fields, "reject_reason", _reject_reason) or "optional",
        must_read=take(fields, "must_read", Node.boolean) or False,
        confirm=take(fields, "confirm", Node.boolean) or False,
        redact=take(fields, "redact", read_pointers, ()),
        idempotent=take(fields, "idempotent", Node.boolean) or False,
        trusts_tools=default.trusts_tools,
    )


def _check_reviewers(
    fields: dict[str, Node], node: Node, reviewers: Reviewers, allowed: tuple[DecisionType, ...]
) -> None:
    """Where others approve what one has edited or answered, they must be able to."""
    alone = reviewers.quorum == 1 and reviewers.editor_approves
    where = fields.get("reviewers") or fields.get("allowed_decisions") or node
    if "edit" in allowed and "approve" not in allowed and not alone:
        where.problem("Others have to approve an edit here, so `allowed_decisions` needs approve.")
    if "answer_schema" in fields and "approve" in allowed and reviewers.quorum > 1:
        where.problem("The tool runs with one person's answer here, so the `quorum` must be 1.")


def _reject_reason(node: Node) -> Literal["optional", "required"] | None:
    return node.one_of(_REASONS)


def read_decisions(
    node: Node, words: tuple[DecisionType, ...] = DECISION_TYPES
) -> tuple[DecisionType, ...]:
    """A list of decisions, each among `words`: those that the system knows."""
    nodes = node.items("[approve, reject]")
    if nodes == []:
        node.problem("This list is empty: nobody could ever decide. Name at least one decision.")
    found: list[DecisionType] = []
    for each in nodes or []:
        decision: DecisionType | None = next((t for t in words if t == each.value), None)
        if decision is None:
            ours = _SYNONYMS.get(each.value) if isinstance(each.value, str) else None
            hint = f" Did you mean `{ours}`?" if ours in words else guess(each.value, words)
            each.problem(f"{each} is no decision: {listed(words)}.{hint}")
        elif decision in found:
            each.problem(f"{shown(decision)} stands here twice.")
        else:
            found.append(decision)
    return tuple(found)


def _description(node: Node) -> str | Ask | None:
    if callable(node.value):
        return _on_own_copy(node.value)
    return (node.text() or "").strip() or None


def _when(node: Node) -> Ask | None:
    if callable(node.value):
        return _on_own_copy(node.value)
    return read_when_schema(node)


def read_when_schema(node: Node) -> Ask | None:
    """A JSON Schema over the arguments."""
    schema = read_args_schema(node)
    if schema == {}:
        node.problem("An empty `when` is always met: leave it out.")
    return SchemaWhen.of(schema) if schema else None


def _on_own_copy(function: Callable[..., object]) -> Ask:
    """What it does to the arguments never reaches what will run."""
    return lambda seen: function(copy.deepcopy(seen.call.args))


def _answer_schema(
    fields: dict[str, Node], allowed: tuple[DecisionType, ...]
) -> dict[str, Any] | None:
    """Of a person's own answer: it stands in the tool's place, or it goes along when the tool runs."""
    schema = take(fields, "answer_schema", read_schema)
    goes_along = "approve" in allowed and {*allowed} <= {"approve", "reject"}
    if schema is not None and allowed and allowed != ("respond",) and not goes_along:
        fields["answer_schema"].problem(
            "A person's answer is all that a question gets: it needs `allowed_decisions: [respond]`, where it"
            " stands in the tool's place, or `[approve, reject]`, where the tool runs with it."
        )
    return schema


def _output(
    fields: dict[str, Node], allowed: tuple[DecisionType, ...], schema: dict[str, Any] | None
) -> Output | None:
    """Where that answer goes."""
    if (node := fields.get("output")) is None:
        return None
    parts = node.fields(("key", "into"), required=("key", "into"))
    key = take(parts, "key", Node.text)
    into = take(parts, "into", _into)
    if "answer_schema" not in fields:
        node.problem("This is where a person's answer goes: say by `answer_schema` what it may be.")
    elif into == "input" and "approve" not in allowed:
        parts["into"].problem("The tool never runs here: an answer `into: input` needs approve.")
    return Output(key=key, into=into) if key and into else None


def _into(node: Node) -> Literal["state", "input"] | None:
    return node.one_of(_INTO)


def read_args_schema(node: Node) -> dict[str, Any] | None:
    """A JSON Schema that an object can satisfy."""
    schema = read_schema(node)
    types = (schema or {}).get("type", "object")
    if schema is None or types == "object" or (not isinstance(types, str) and "object" in types):
        return schema
    return node.problem(
        "Nothing can satisfy this: arguments are an object, so `type` must be `object`."
    )


def read_schema(node: Node) -> dict[str, Any] | None:
    """A JSON Schema that is checked here without ever working for long. In a policy every keyword counts: one
    that nobody knows is a mistake."""
    from hitl_core.policy import _schema

    value = node.value
    if not isinstance(value, dict):
        return node.problem(f"This must be a JSON Schema, which is a mapping, not {node}.")
    schema, report = cast(dict[str, Any], value), node.report
    if report.bounded and report.budget is None:
        report.budget = _schema.budget()
    problem = _schema.problem_in(schema, strict=True, budget=report.budget)
    if problem is not None:
        return node.problem(problem)
    return json.loads(json.dumps(schema))  # its own, and as JSON has it: text keys, no tuples
