"""The entry of one tool or glob in `interrupt_on` → a Rule."""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast

from hitl_core.model import DECISION_TYPES, DecisionType
from hitl_core.model.arguments import JsonObject
from hitl_core.policy import _schema
from hitl_core.policy.node import Node, guess, listed, shown, take
from hitl_core.policy.route import KEYS as ROUTE_KEYS
from hitl_core.policy.route import read_route
from hitl_core.policy.rule import DEFAULT_DECISIONS, Rule

KEYS = (
    "allowed_decisions",
    "description",
    "when",
    "args_schema",
    "reject_reason",
    "idempotent",
    *ROUTE_KEYS,
)
_REASONS: tuple[Literal["optional", "required"], ...] = ("optional", "required")
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
    return Rule(name=name, kind=kind, line=node.line, prefix=default.prefix, route=default.route)


def _read_mapping(name: str, node: Node, default: Rule) -> Rule | None:
    if not isinstance(node.value, Mapping):
        hint = {"allow": " To allow it, write false.", "review": " To review it, write true."}
        node.problem(
            f"A rule is true, false, `deny` or a mapping, not {node}."
            + (hint.get(node.value, "") if isinstance(node.value, str) else "")
        )
        return None
    fields = node.fields(KEYS)
    return Rule(
        name=name,
        kind="review",
        line=node.line,
        prefix=default.prefix,
        route=read_route(fields, default.route),
        description=take(fields, "description", _description, ""),
        when=take(fields, "when", _when),
        allowed_decisions=take(fields, "allowed_decisions", _decisions, DEFAULT_DECISIONS),
        args_schema=take(fields, "args_schema", _schema_of),
        reject_reason=take(fields, "reject_reason", _reject_reason) or "optional",
        idempotent=take(fields, "idempotent", Node.boolean) or False,
    )


def _reject_reason(node: Node) -> Literal["optional", "required"] | None:
    return node.one_of(_REASONS)


def _decisions(node: Node) -> tuple[DecisionType, ...]:
    nodes = node.items("[approve, reject]")
    if nodes == []:
        node.problem("This list is empty: nobody could ever decide. Name at least one decision.")
    found: list[DecisionType] = []
    for each in nodes or []:
        decision: DecisionType | None = next((t for t in DECISION_TYPES if t == each.value), None)
        if decision is None:
            ours = _SYNONYMS.get(each.value) if isinstance(each.value, str) else None
            hint = f" Did you mean `{ours}`?" if ours else guess(each.value, DECISION_TYPES)
            each.problem(f"{each} is no decision: {listed(DECISION_TYPES)}.{hint}")
        elif decision in found:
            each.problem(f"{shown(decision)} stands here twice.")
        else:
            found.append(decision)
    return tuple(found)


def _description(node: Node) -> str | Callable[[JsonObject], str]:
    if callable(node.value):
        return cast(Callable[[JsonObject], str], _own_copy(node))
    return (node.text() or "").strip()


def _when(node: Node) -> Callable[[JsonObject], object] | None:
    if callable(node.value):
        return _own_copy(node)
    schema = _schema_of(node)
    if schema == {}:
        node.problem("An empty `when` is always met: leave it out.")
    return None if schema is None else _schema.predicate(schema)


def _own_copy(node: Node) -> Callable[[JsonObject], object]:
    """The callable, on arguments of its own: what it does to them never reaches what will run."""
    function = cast(Callable[[JsonObject], object], node.value)
    if inspect.iscoroutinefunction(function):
        node.problem("This must be a plain function: the policy has no event loop to await one in.")
    return lambda args: function(copy.deepcopy(args))


def _schema_of(node: Node) -> dict[str, Any] | None:
    value = node.value
    if not isinstance(value, dict):
        return node.problem(f"This must be a JSON Schema, which is a mapping, not {node}.")
    schema = cast(dict[str, Any], value)
    problem = _schema.problem_in(schema)
    types = schema.get("type", "object")
    if problem is None and types != "object" and (isinstance(types, str) or "object" not in types):
        problem = "Nothing can satisfy this: arguments are an object, so `type` must be `object`."
    if problem is not None:
        return node.problem(problem)
    return json.loads(json.dumps(schema))  # its own, and as JSON has it: text keys, no tuples
