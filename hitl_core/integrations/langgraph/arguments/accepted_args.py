"""Finds which arguments a tool accepts. LangChain drops some of the others, and LangGraph replaces those that
it injects: then the tool would not run with what a person approved. Pure.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from langchain_core.tools import BaseTool
from langchain_core.utils.pydantic import model_json_schema

from hitl_core.integrations.langgraph.arguments.conversion import (
    Path,
    find_changed,
    find_dropped,
    pointer,
    read_fields,
)
from hitl_core.integrations.langgraph.arguments.delivery import (
    filled_names,
    is_filtered,
    parameter_names,
    receive_args,
    signatures_of,
    takes_one_value,
    validation_texts,
    would_raise,
)
from hitl_core.integrations.langgraph.arguments.marks import add_marks
from hitl_core.model import JsonObject as Json

#: The most problems of one call that a text lists.
MAX_PROBLEMS = 5
#: Keywords of JSON Schema that hold one schema, several, and several by name.
_ONE = ("items", "additionalProperties", "not")
_SEVERAL = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions", "patternProperties")
#: What LangChain tells a model about a tool of one value without a schema (`convert_to_openai_tool`). Such a
#: tool's own `tool_call_schema` is that of the method that runs it.
_ONE_VALUE: Json = {
    "type": "object",
    "properties": {"__arg1": {"title": "Input", "type": "string"}},
    "required": ["__arg1"],
    "additionalProperties": False,
}


def schema_of(tool: BaseTool) -> Json:
    """The schema that the model sees, with three changes: the marks that LangChain loses are added
    (`add_marks`), names that don't arrive are removed, and `additionalProperties: false` is set where
    LangChain drops unknown names. It drops them for pydantic models, unless the model allows extra fields. It
    drops nothing if a tool brings its own JSON Schema.
    """
    schema = _schema_for_model(tool)
    if is_filtered(tool):
        fields = read_fields(cast(Any, tool.args_schema))
        takes_extra = fields is not None and fields.takes_extra
        closed = _close(schema)
        schema = {**closed, "additionalProperties": True} if takes_extra else closed
    schema = add_marks(schema, tool)
    if filled := filled_names(tool) & (schema.get("properties") or {}).keys():
        rest = {key: each for key, each in schema["properties"].items() if key not in filled}
        schema = {**schema, "properties": rest}
    return schema


def changed_args(tool: BaseTool, args: Mapping[str, Any]) -> list[str]:
    """The arguments that the tool's function would not get, or would get with other values: names, and JSON
    Pointers of nested values. LangChain parses them here, so the validators of the tool's model run.
    """
    filled = args.keys() & filled_names(tool)
    fields = read_fields(cast(Any, tool.args_schema)) if is_filtered(tool) else None
    dropped = find_dropped(fields, args) if fields else _find_unknown(tool, args)
    if filled or dropped or not args:
        return sorted({*filled, *map(pointer, dropped)})
    try:
        received = receive_args(tool, args)
    except Exception as error:
        return [] if would_raise(tool, error) else sorted(args)
    return [pointer(each) for each in find_changed(fields, args, received.__getitem__)]


def args_problem(tools: Iterable[BaseTool], args: Mapping[str, Any]) -> str | None:
    """An error text if none of these tools, which all have one name, would get these arguments unchanged."""
    names: list[str] = []
    for tool in tools:
        if not (names := changed_args(tool, args)):
            return None
    if not names:
        return None
    listed = ", ".join(f"`{name}`" for name in names)
    return f"It doesn't accept all of these arguments ({listed}), so it would run with others."


def refusal_problem(tools: Iterable[BaseTool], args: Mapping[str, Any]) -> str | None:
    """An error text if each of these tools, which all have one name, would refuse these arguments and not
    run. The texts of a model's own validators are in it: only the model may read it.
    """
    problems: list[str] = []
    for tool in tools:
        if not (problems := list(_find_refused(tool, args))):
            return None
    listed = "; ".join(problems[:MAX_PROBLEMS])
    return f"The tool would refuse these arguments: {listed}." if problems else None


def _find_refused(tool: BaseTool, args: Mapping[str, Any]) -> Iterator[str]:
    if takes_one_value(tool):
        if len(args) != 1:
            yield "it takes exactly one value"
        return
    if not is_filtered(tool):
        required: Any = _schema_for_model(tool).get("required")
        names = cast("list[Any]", required) if isinstance(required, list) else []
        given = args.keys() | filled_names(tool)
        yield from (f"`{name}`: Field required" for name in names if str(name) not in given)
        return
    try:
        receive_args(tool, args)
    except Exception as error:
        if would_raise(tool, error):
            yield from validation_texts(tool, error)


def _schema_for_model(tool: BaseTool) -> Json:
    if takes_one_value(tool) and not tool.args_schema:
        return _ONE_VALUE
    schema: Any = tool.tool_call_schema
    return cast(Json, schema) if isinstance(schema, dict) else model_json_schema(schema)


def _find_unknown(tool: BaseTool, args: Mapping[str, Any]) -> list[Path]:
    """The names for which a tool without a model has no parameter, or which it doesn't show to the model."""
    if takes_one_value(tool):
        return []
    signatures = list(signatures_of(tool))
    kinds = {each.kind for signature in signatures for each in signature.parameters.values()}
    names = set(cast(Json, _schema_for_model(tool).get("properties") or {}))
    hidden = parameter_names(signatures) - names
    others = args.keys() - names if inspect.Parameter.VAR_KEYWORD not in kinds else set[str]()
    return [(each,) for each in (args.keys() & hidden) | others]


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
