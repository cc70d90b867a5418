"""Finds a tool's marks of its arguments: `writeOnly`, `readOnly` and `format: password`.

LangChain's schema for the model loses some of them: LangChain copies the fields of the tool's model without
their `json_schema_extra` and their aliases, and a function's parameters without their `Annotated`. Pure.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, cast, get_origin, get_type_hints

from langchain_core.tools import BaseTool
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic.v1 import BaseModel as BaseModelV1

from hitl_core.integrations.langgraph.arguments.conversion import ModelFields, read_fields
from hitl_core.integrations.langgraph.arguments.delivery import functions_of
from hitl_core.jsonschema import is_fixed, is_secret
from hitl_core.model import JsonObject as Json


class _Generator(GenerateJsonSchema):
    """Generates schemas also for types that JSON doesn't have: LangGraph injects values of such types."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> Json:
        return {}


def add_marks(schema: Json, tool: BaseTool) -> Json:
    """The schema for the model, with all marks of the tool's own model and function. It still accepts the
    same arguments. A marked alias becomes one more property.
    """
    known, defs = _properties(schema), _definitions(schema)
    properties, others, more_defs = dict(known), schema.get("additionalProperties"), Json()
    for number, own in enumerate(_own_schemas(tool, known)):
        own_defs = _definitions(own)
        is_lost_below = bool(_places(own_defs) - _places(defs))
        prefix = f"marks {number} "

        def is_lost(part: Any, known_part: Any, below: bool = is_lost_below) -> bool:
            return bool(_places(part) - _places(known_part)) or (below and _has_ref(part))

        lost = {
            key: each for key, each in _properties(own).items() if is_lost(each, known.get(key))
        }
        for name, part in lost.items():
            properties[name] = _add(properties.get(name), _only_marks(part, prefix))
        extra = _root(own).get("additionalProperties")
        has_lost_extra = others is not False and is_lost(extra, others)
        if has_lost_extra:
            others = _add(others, _only_marks(extra, prefix))
        if lost or has_lost_extra:
            more_defs |= {prefix + key: _only_marks(each, prefix) for key, each in own_defs.items()}
    if properties != known:
        schema = {**schema, "properties": properties}
    if others != schema.get("additionalProperties"):
        schema = {**schema, "additionalProperties": others}
    return (
        {**schema, "$defs": {**(schema.get("$defs") or {}), **more_defs}} if more_defs else schema
    )


def _add(base: Any, marks: Json) -> Json:
    known = cast(Json, base) if isinstance(base, dict) else {}
    return {**known, "allOf": [*known.get("allOf", ()), marks]}


def _own_schemas(tool: BaseTool, names: Iterable[str]) -> Iterator[Json]:
    """Schemas of the tool's model, by all names that it reads, and of the parameters of its function."""
    model: Any = tool.args_schema
    if isinstance(model, type) and issubclass(model, BaseModel):
        by_name = model.model_json_schema(by_alias=False, schema_generator=_Generator)
        yield {**by_name, "properties": _by_path(_properties(by_name), read_fields(model))}
        yield model.model_json_schema(schema_generator=_Generator)
    elif isinstance(model, type) and issubclass(model, BaseModelV1):
        by_name = model.schema(by_alias=False)
        yield {**by_name, "properties": _by_path(_properties(by_name), read_fields(model))}
    for function in functions_of(tool):
        annotated = _annotated_parameters(function)
        for name in annotated.keys() & names:
            own = TypeAdapter(annotated[name]).json_schema(schema_generator=_Generator)
            yield {"properties": {name: own}, "$defs": own.get("$defs", {})}


def _by_path(properties: Json, fields: ModelFields | None) -> Json:
    """The properties, by all names that lead to a field. A longer path has its first name."""
    by_path = dict(properties)
    if fields is None:
        return by_path
    for name, paths in fields.paths.items():
        part: Any = properties.get(name)
        for first, *rest in paths:
            if rest and (_places(part) or _has_ref(part)):
                by_path[str(first)] = {"writeOnly": True}
            elif not rest:
                by_path.setdefault(str(first), part)
    return by_path


def _annotated_parameters(function: Any) -> dict[str, Any]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):  # LangChain can't read them either
        return {}
    names = inspect.signature(function).parameters.keys()
    return {
        name: kind
        for name, kind in hints.items()
        if name in names and get_origin(kind) is Annotated
    }


def _only_marks(part: Any, prefix: str) -> Any:
    """The marks in this part of a schema, without anything that checks values. `prefix`: begins the names of
    its definitions.
    """
    if not isinstance(part, dict):
        return {}
    own, marks = cast(Json, part), Json()
    if is_secret(own):
        marks["writeOnly"] = True
    if is_fixed(own):
        marks["readOnly"] = True
    if isinstance(ref := own.get("$ref"), str):
        marks["$ref"] = f"#/$defs/{prefix}{ref.rpartition('/')[2]}"
    for key in ("properties", "patternProperties"):
        if isinstance(each := own.get(key), dict):
            inner = cast(Json, each)
            marks[key] = {name: _only_marks(value, prefix) for name, value in inner.items()}
    for key in ("items", "additionalProperties", "contentSchema"):
        if isinstance(own.get(key), dict):
            marks[key] = _only_marks(own[key], prefix)
    if isinstance(first := own.get("prefixItems"), list):
        marks["prefixItems"] = [_only_marks(each, prefix) for each in cast("list[Any]", first)]
    # A mark in any branch counts, also if the branch does not apply.
    branches = [each for key in ("allOf", "anyOf", "oneOf") for each in own.get(key) or ()]
    if branches:
        marks["allOf"] = [_only_marks(each, prefix) for each in branches]
    return marks


def _places(part: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """The paths to the marks in a part of a schema."""
    places = set[tuple[str, ...]]()
    if isinstance(part, dict):
        own = cast(Json, part)
        marks = {"writeOnly": is_secret(own), "readOnly": is_fixed(own)}
        places |= {(*path, mark) for mark, is_set in marks.items() if is_set}
        for key, value in own.items():
            places |= _places(value, (*path, key))
    elif isinstance(part, list):
        for index, value in enumerate(cast("list[Any]", part)):
            places |= _places(value, (*path, str(index)))
    return places


def _has_ref(part: Any) -> bool:
    return '"$ref"' in json.dumps(part)


def _properties(schema: Json) -> Json:
    return _root(schema).get("properties") or {}


def _root(schema: Json) -> Json:
    """The part about all arguments. If a model contains itself, pydantic writes it as a definition."""
    if isinstance(ref := schema.get("$ref"), str):
        return _definitions(schema).get(ref.rpartition("/")[2], schema)
    return schema


def _definitions(schema: Json) -> Json:
    return schema.get("$defs") or schema.get("definitions") or {}
