"""Which arguments a tool takes. Of a call's others LangChain drops some, and LangGraph replaces those that it
injects: what a person approved would not be what runs. Pure.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from langchain_core.tools import BaseTool, Tool
from langchain_core.utils.pydantic import model_json_schema

from hitl_core.jsonschema import SchemaError, check_args
from hitl_core.model import JsonObject as Json

#: Keywords of JSON Schema that hold one schema, several, and several by name.
_ONE = ("items", "additionalProperties", "not")
_SEVERAL = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions", "patternProperties")


def schema_of(tool: BaseTool) -> Json:
    """As the model sees it, and closed where LangChain drops what it has no name for: in pydantic models that
    don't say otherwise. By a JSON Schema of the tool's own it drops nothing."""
    schema = _as_told(tool)
    if not _is_filtered(tool):
        return schema
    closed = _closed(schema)
    return {**closed, "additionalProperties": True} if _takes_any(tool) else closed


def not_taken(tool: BaseTool, args: Mapping[str, Any]) -> list[str]:
    """Those of the arguments that the tool would not get as they are: names, and paths of what is in them."""
    if type(tool) is Tool and tool.args_schema is None:  # one text, under any name
        return []
    told, closed = _as_told(tool), schema_of(tool)
    names = _names(told)
    hidden = _parameters(tool) - names
    strict = _is_closed(closed) if _is_filtered(tool) else not _takes_others(tool)
    unknown = args.keys() - names - _aliases(tool) if strict else set[str]()
    found = sorted((args.keys() & hidden) | unknown)
    if found or closed == told:
        return found
    try:
        before = check_args(told, args)
        return [each.pointer for each in check_args(closed, args) if each not in before]
    except SchemaError:  # no card is drawn by it either
        return []


def why_not(tools: Iterable[BaseTool], args: Mapping[str, Any]) -> str | None:
    """A sentence where none of these tools, all of one name, would get these arguments as they are."""
    found: list[str] = []
    for tool in tools:
        if not (found := not_taken(tool, args)):
            return None
    if not found:
        return None
    listed = ", ".join(f"`{name}`" for name in found)
    return (
        f"It does not take all that it was called with ({listed}), so that is not what would run."
    )


def _as_told(tool: BaseTool) -> Json:
    schema: Any = tool.tool_call_schema
    return cast(Json, schema) if isinstance(schema, dict) else model_json_schema(schema)


def _is_filtered(tool: BaseTool) -> bool:
    """Whether LangChain checks its arguments by a pydantic model, and passes on what that has."""
    return tool.args_schema is not None and not isinstance(tool.args_schema, dict)


def _takes_any(tool: BaseTool) -> bool:
    model: Any = tool.args_schema
    config: Any = getattr(model, "model_config", None)
    if config is None:  # pydantic 1
        return getattr(getattr(model, "__config__", None), "extra", None) == "allow"
    return config.get("extra") == "allow"


def _is_closed(schema: Json) -> bool:
    return schema.get("additionalProperties") is False


def _names(schema: Json) -> set[str]:
    return set(cast(Json, schema.get("properties") or {}))


def _aliases(tool: BaseTool) -> set[str]:
    fields = cast("dict[str, Any]", getattr(tool.args_schema, "model_fields", {}))
    aliases = (each for f in fields.values() for each in (f.alias, f.validation_alias))
    return {each for each in aliases if isinstance(each, str)}


def _parameters(tool: BaseTool) -> set[str]:
    """The names that the function behind it has, also of what is injected."""
    found = set(cast("dict[str, Any]", getattr(tool.args_schema, "model_fields", {})))
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    for signature in _signatures(tool):
        found |= {name for name, each in signature.parameters.items() if each.kind not in variable}
    return found


def _takes_others(tool: BaseTool) -> bool:
    """Whether a function behind it has **kwargs."""
    kinds = {each.kind for found in _signatures(tool) for each in found.parameters.values()}
    return inspect.Parameter.VAR_KEYWORD in kinds


def _signatures(tool: BaseTool) -> Iterator[inspect.Signature]:
    given = [getattr(tool, name, None) for name in ("func", "coroutine")]
    methods = [tool._run, *([tool._arun] if type(tool)._arun is not BaseTool._arun else [])]  # pyright: ignore
    for function in given if any(given) else methods:
        if function is not None:
            yield inspect.signature(function)


def _closed(schema: Any) -> Json:
    """The same schema, in which no object takes a name that it doesn't list, unless it says so."""
    if not isinstance(schema, dict):
        return schema
    made = dict(cast(Json, schema))
    for key in _ONE:
        if key in made:
            made[key] = _closed(made[key])
    for key in _SEVERAL:
        if key in made:
            made[key] = [_closed(each) for each in made[key]]
    for key in _NAMED:
        if key in made:
            made[key] = {name: _closed(each) for name, each in made[key].items()}
    if "properties" in made:
        made.setdefault("additionalProperties", False)
    return made
