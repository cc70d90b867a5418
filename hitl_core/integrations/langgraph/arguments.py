"""Which arguments a tool accepts. LangChain drops some of the others, and LangGraph replaces those that it
injects. Then the tool would not run with what a person approved. Pure.
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
    """The schema that the model sees, with `additionalProperties: false` where LangChain drops unknown names.
    It does so for pydantic models, unless they allow extra fields. If a tool brings its own JSON Schema,
    LangChain drops nothing.
    """
    schema = _schema_for_model(tool)
    if not _is_filtered(tool):
        return schema
    closed = _close(schema)
    return {**closed, "additionalProperties": True} if _takes_any(tool) else closed


def changed_args(tool: BaseTool, args: Mapping[str, Any]) -> list[str]:
    """The arguments that would be dropped or replaced before the tool gets them: names, and JSON Pointers of
    nested values.
    """
    if type(tool) is Tool and tool.args_schema is None:  # it takes one text, under any name
        return []
    schema, closed = _schema_for_model(tool), schema_of(tool)
    names = _names(schema)
    hidden = _parameters(tool) - names
    strict = _is_closed(closed) if _is_filtered(tool) else not _takes_others(tool)
    unknown = args.keys() - names - _aliases(tool) if strict else set[str]()
    top_level = sorted((args.keys() & hidden) | unknown)
    if top_level or closed == schema:
        return top_level
    try:
        before = check_args(schema, args)
        return [each.pointer for each in check_args(closed, args) if each not in before]
    except SchemaError:  # such a schema is not used for a form either
        return []


def args_problem(tools: Iterable[BaseTool], args: Mapping[str, Any]) -> str | None:
    """An error text if none of these tools, all with one name, would get these arguments unchanged."""
    names: list[str] = []
    for tool in tools:
        if not (names := changed_args(tool, args)):
            return None
    if not names:
        return None
    listed = ", ".join(f"`{name}`" for name in names)
    return f"It doesn't accept all of these arguments ({listed}), so it would run with others."


def _schema_for_model(tool: BaseTool) -> Json:
    schema: Any = tool.tool_call_schema
    return cast(Json, schema) if isinstance(schema, dict) else model_json_schema(schema)


def _is_filtered(tool: BaseTool) -> bool:
    """Whether LangChain checks its arguments with a pydantic model, and passes on only the model's fields."""
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
    """The parameter names of the tool's function, with those that LangGraph injects."""
    names = set(cast("dict[str, Any]", getattr(tool.args_schema, "model_fields", {})))
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    for signature in _signatures(tool):
        names |= {name for name, each in signature.parameters.items() if each.kind not in variable}
    return names


def _takes_others(tool: BaseTool) -> bool:
    """Whether one of the tool's functions has **kwargs."""
    signatures = _signatures(tool)
    kinds = {each.kind for signature in signatures for each in signature.parameters.values()}
    return inspect.Parameter.VAR_KEYWORD in kinds


def _signatures(tool: BaseTool) -> Iterator[inspect.Signature]:
    functions = [getattr(tool, name, None) for name in ("func", "coroutine")]
    methods = [tool._run, *([tool._arun] if type(tool)._arun is not BaseTool._arun else [])]  # pyright: ignore
    for function in functions if any(functions) else methods:
        if function is not None:
            yield inspect.signature(function)


def _close(schema: Any) -> Json:
    """A copy in which objects accept only the names that they list, unless the schema says otherwise."""
    if not isinstance(schema, dict):
        return schema
    copy = dict(cast(Json, schema))
    for key in _ONE:
        if key in copy:
            copy[key] = _close(copy[key])
    for key in _SEVERAL:
        if key in copy:
            copy[key] = [_close(each) for each in copy[key]]
    for key in _NAMED:
        if key in copy:
            copy[key] = {name: _close(each) for name, each in copy[key].items()}
    if "properties" in copy:
        copy.setdefault("additionalProperties", False)
    return copy
