"""Which schemas are accepted, and the bounded validator that each becomes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

import jsonschema
from jsonschema import validators
from referencing import Registry
from referencing import jsonschema as drafts
from referencing.exceptions import Unresolvable

from hitl_core.forms.form import SchemaError
from hitl_core.forms.keywords import keywords_of
from hitl_core.forms.meter import MAX_DEPTH, Meter, metered
from hitl_core.forms.patterns import check_pattern
from hitl_core.forms.pointer import path_words, pointer
from hitl_core.forms.quick import Quick

MAX_SCHEMA = 64 * 1024  # bytes of JSON
_MAX_PARTS = 1_000  # to check so many against their draft takes a quarter of a second
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_DATA = ("const", "default", "enum", "example", "examples")  # hold values, not schemas
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_REFS = ("$ref", "$dynamicRef", "$recursiveRef")


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raise SchemaError, one sentence, unless arguments can be checked by this schema here."""
    compiled(schema)


def compiled(schema: Mapping[str, Any]) -> Any:
    """A jsonschema validator class and the schema it is for. Checked once for each schema."""
    try:
        text = json.dumps(dict(schema), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"the schema is not plain JSON: {error}") from error
    if size > MAX_SCHEMA:
        raise SchemaError(f"the schema is {size:,} bytes long; {MAX_SCHEMA:,} are allowed")
    return _compiled(text)


def validator_for(schema: Mapping[str, Any], value: object) -> Any:
    """The validator of one value, with its own budget. Raises TooMuchWork for a value too deep."""
    validator, plain = compiled(schema)
    return validator(plain, registry=cast(Any, Registry)(), format_checker=Meter(value))


@lru_cache(maxsize=128)
def _compiled(text: str) -> tuple[Any, Any]:
    schema: Any = json.loads(text)
    draft = schema.pop("$schema", _DRAFT)
    validator: Any = None
    if isinstance(draft, str):
        validator = validators.validator_for({"$schema": draft}, default=cast(Any, None))
    if validator is None:
        raise SchemaError(f"the schema's $schema is not a draft that is known here: {draft}")
    try:
        _check_parts(schema)
        validator.check_schema(schema)
        _check_refs(validator, schema)
    except jsonschema.SchemaError as error:
        where = path_words(pointer(error.absolute_path)) or "its top"
        raise SchemaError(f"the schema is not valid at {where}: {error.message[:200]}") from error
    except RecursionError as error:
        raise SchemaError("the schema is nested too deeply") from error
    keywords = {name: metered(check) for name, check in keywords_of(validator).items()}
    extended = cast(Any, validators).extend(validator, keywords)
    extended.quick = Quick()
    return extended, schema


def _check_parts(schema: Any) -> None:
    for count, (part, path) in enumerate(_walk(schema)):
        if count >= _MAX_PARTS:
            raise SchemaError(f"the schema has more than {_MAX_PARTS:,} parts")
        if len(path) > MAX_DEPTH:
            raise SchemaError(f"the schema is nested deeper than {MAX_DEPTH} levels")
        if isinstance(part.get("$schema"), str):  # would change the validator in the middle
            raise SchemaError(f"$schema stands inside the schema, at {path_words(pointer(path))}")
        for key in _REFS:
            if isinstance(part.get(key), str) and not part[key].startswith("#"):
                raise SchemaError(
                    f"the schema refers to {part[key][:100]}, outside itself; nothing is fetched"
                )
        named: Any = part.get("patternProperties")
        patterns: list[Any] = [part.get("pattern"), *(named if isinstance(named, dict) else ())]
        for pattern in patterns:
            if isinstance(pattern, str):
                check_pattern(pattern)


def _walk(schema: Any) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Whatever may be a schema: all but the values in const, enum, default and examples."""
    waiting: list[tuple[Any, tuple[str, ...], bool]] = [(schema, (), False)]
    while waiting:
        node, path, names = waiting.pop()
        if isinstance(node, list):
            items = cast("list[Any]", node)
            waiting.extend((item, (*path, str(n)), False) for n, item in enumerate(items))
        elif isinstance(node, bool):
            yield {}, path
        elif isinstance(node, dict):
            part = cast("dict[str, Any]", node)
            if not names:
                yield part, path
            for key, value in part.items():
                if names or key not in _DATA:
                    waiting.append((value, (*path, key), not names and key in _NAMED))


def _check_refs(validator: Any, schema: Any) -> None:
    parts = [part for part, _ in _walk(schema)]
    if any(isinstance(part.get("$id", part.get("id")), str) for part in parts[1:]):
        return  # the base of a reference may change on the way; it is resolved when it is used
    draft: Any = drafts.specification_with(validator.META_SCHEMA["$schema"])
    uri = str(schema.get("$id", ""))
    registry = cast(Any, Registry)().with_resource(uri, draft.create_resource(schema))
    resolver = registry.resolver(uri)
    for ref in {part["$ref"] for part in parts if isinstance(part.get("$ref"), str)}:
        try:
            resolver.lookup(ref)
        except Unresolvable as error:
            raise SchemaError(f"the schema refers to {ref}, which it does not have") from error
