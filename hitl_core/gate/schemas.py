"""The tools' own schemas: what the policy says nothing of is checked by these. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from hitl_core.errors import InvalidToolCall
from hitl_core.model import Target
from hitl_core.model.arguments import JsonObject
from hitl_core.policy import Policy, Ruling


def with_schema(ruling: Ruling, own: JsonObject | None) -> Ruling:
    """With the tool's own schema where there is none. Raises InvalidToolCall for one that can't be used."""
    if own is None or ruling.args_schema is not None or ruling.verdict.kind != "review":
        return ruling
    if flaw := flaw_of(own):
        raise InvalidToolCall(f"A tool's own schema can't be used: {flaw}.")
    return replace(ruling, args_schema=own)


def targets(policy: Policy, tools: Mapping[str, JsonObject | None]) -> dict[str, Target]:
    """What an edit may name. Without tools whose schema can't be used: no edit can be checked by it."""
    found: dict[str, Target] = {}
    for name, own in tools.items():
        target = policy.target(name)
        if own is None or target.args_schema is not None:
            found[name] = target
        elif flaw_of(own) is None:
            found[name] = target.model_copy(update={"args_schema": own})
    return found


def flaw_of(schema: JsonObject) -> str | None:
    """Why arguments can't be checked by this schema. Each is looked at once, however often it comes."""
    try:
        return _flaw_in(json.dumps(schema, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return "it is not plain JSON"


@lru_cache(maxsize=1024)
def _flaw_in(schema: str) -> str | None:
    from hitl_core.forms import SchemaError, check_schema  # with jsonschema

    try:
        check_schema(json.loads(schema))
    except SchemaError as error:
        return str(error)
    return None
