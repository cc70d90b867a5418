"""`response_schema`: LangGraph's schema for the answer to an interrupt, in per-call mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hitl_core.dialects.parts.json import Json
from hitl_core.dialects.parts.python import PYTHON_DECISIONS
from hitl_core.jsonschema import schema_properties
from hitl_core.model import Action, DecisionType

_BRANCH: dict[DecisionType, str] = {
    "approve": "ApproveDecision",
    "edit": "EditDecision",
    "reject": "RejectDecision",
    "respond": "RespondDecision",
}


def read_response_schema(schema: Json) -> tuple[tuple[DecisionType, ...], Json | None]:
    """The decisions that the schema allows, in its order, and the schema of an edit's arguments."""
    defs = schema.get("$defs")
    known = cast(Json, defs) if isinstance(defs, dict) else {}
    branches = schema.get("oneOf", [schema])
    args_schemas: dict[DecisionType, Json | None] = {}
    for branch in cast(list[object], branches) if isinstance(branches, list) else []:
        part = _resolve_ref(branch, known)
        kind = _resolve_ref(schema_properties(part).get("type"), known).get("const")
        decision: DecisionType | None = next(
            (each for each in PYTHON_DECISIONS if each == kind), None
        )
        if decision is not None:
            edited = _resolve_ref(schema_properties(part).get("edited_action"), known)
            args = _resolve_ref(schema_properties(edited).get("args"), known)
            args_schemas[decision] = {**args, "$defs": known} if args and known else args or None
    return tuple(args_schemas), args_schemas.get("edit")


def _resolve_ref(part: object, defs: Json) -> Json:
    schema = cast(Json, part) if isinstance(part, dict) else {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = defs.get(reference.removeprefix("#/$defs/"))
        return cast(Json, target) if isinstance(target, dict) else {}
    return schema


def make_response_schema(action: Action, allowed: Sequence[DecisionType]) -> Json:
    """The schema that LangChain makes: a choice by `type`, or the schema of the only decision."""
    args = action.config.args_schema or {"type": "object"}
    defs: Json = args.get("$defs", {})  # moved to the top, because references start there
    args = {key: value for key, value in args.items() if key != "$defs"}
    branches = {_BRANCH[kind]: _make_branch(kind, action.request.name, args) for kind in allowed}
    if len(branches) == 1:
        (only,) = branches.values()
        return {**only, "$defs": defs} if defs else only
    return {
        "$defs": {**defs, **branches},
        "discriminator": {
            "mapping": {kind: f"#/$defs/{_BRANCH[kind]}" for kind in allowed},
            "propertyName": "type",
        },
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in branches],
    }


def _make_branch(kind: DecisionType, tool: str, args: Json) -> Json:
    properties: Json = {"type": {"const": kind, "type": "string"}}
    required = ["type"]
    if kind == "edit":
        properties["edited_action"] = {
            "type": "object",
            "title": "EditedAction",
            "properties": {
                "name": {"const": tool, "type": "string"},
                "args": args,
            },
            "required": ["name", "args"],
        }
        required.append("edited_action")
    elif kind in ("reject", "respond"):
        properties["message"] = {"type": "string"}
        required += ["message"] if kind == "respond" else []
    return {
        "type": "object",
        "title": _BRANCH[kind],
        "properties": properties,
        "required": required,
    }
