"""The drafts of JSON Schema, their keywords, and the values that each keyword may have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple, cast

from hitl_core.jsonschema.errors import SchemaError
from hitl_core.jsonschema.formats import POLICY_FORMATS
from hitl_core.model import is_number

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_DRAFTS = {
    "http://json-schema.org/draft-04/schema": 4,
    "http://json-schema.org/draft-06/schema": 6,
    "http://json-schema.org/draft-07/schema": 7,
    "https://json-schema.org/draft/2019-09/schema": 2019,
    "https://json-schema.org/draft/2020-12/schema": 2020,
}
NEWEST = 2020

#: The kind of a keyword's value. The first six kinds contain schemas.
Holds = Literal[
    "schema",
    "schemas",
    "named",
    "patterned",
    "items",
    "dependencies",
    "any",
    "flag",
    "text",
    "pattern",
    "number",
    "positive",
    "count",
    "texts",
    "needs",
    "values",
    "type",
    "limit",
]


class Keyword(NamedTuple):
    """The keyword exists in the drafts from `first` to `last`."""

    holds: Holds
    first: int = 4
    last: int = NEWEST


KEYWORDS: dict[str, Keyword] = {
    "type": Keyword("type"),
    "enum": Keyword("values"),
    "const": Keyword("any", 6),
    "multipleOf": Keyword("positive"),
    "maximum": Keyword("number"),
    "minimum": Keyword("number"),
    "exclusiveMaximum": Keyword("limit"),
    "exclusiveMinimum": Keyword("limit"),
    "maxLength": Keyword("count"),
    "minLength": Keyword("count"),
    "pattern": Keyword("pattern"),
    "items": Keyword("items"),
    "additionalItems": Keyword("schema", 4, 2019),
    "prefixItems": Keyword("schemas", 2020),
    "unevaluatedItems": Keyword("schema", 2019),
    "contains": Keyword("schema", 6),
    "minContains": Keyword("count", 2019),
    "maxContains": Keyword("count", 2019),
    "maxItems": Keyword("count"),
    "minItems": Keyword("count"),
    "uniqueItems": Keyword("flag"),
    "maxProperties": Keyword("count"),
    "minProperties": Keyword("count"),
    "required": Keyword("texts"),
    "properties": Keyword("named"),
    "patternProperties": Keyword("patterned"),
    "additionalProperties": Keyword("schema"),
    "unevaluatedProperties": Keyword("schema", 2019),
    "propertyNames": Keyword("schema", 6),
    "dependentSchemas": Keyword("named", 2019),
    "dependentRequired": Keyword("needs", 2019),
    "dependencies": Keyword("dependencies"),  # newer drafts have two others, and still allow it
    "allOf": Keyword("schemas"),
    "anyOf": Keyword("schemas"),
    "oneOf": Keyword("schemas"),
    "not": Keyword("schema"),
    "if": Keyword("schema", 7),
    "then": Keyword("schema", 7),
    "else": Keyword("schema", 7),
    "$ref": Keyword("text"),
    "$dynamicRef": Keyword("text", 2020),
    "$dynamicAnchor": Keyword("text", 2020),
    "$recursiveRef": Keyword("text", 2019, 2019),
    "$recursiveAnchor": Keyword("flag", 2019, 2019),
    "$anchor": Keyword("text", 2019),
    "$id": Keyword("text", 6),
    "id": Keyword("text", 4, 4),
    "$defs": Keyword("named"),
    "definitions": Keyword("named"),
    "$schema": Keyword("text"),
    "$vocabulary": Keyword("any", 2019),
    "$comment": Keyword("text"),
    "title": Keyword("text"),
    "description": Keyword("text"),
    "default": Keyword("any"),
    "examples": Keyword("any"),
    "readOnly": Keyword("flag"),
    "writeOnly": Keyword("flag"),
    "deprecated": Keyword("flag"),
    "format": Keyword("text"),
    "contentEncoding": Keyword("text"),
    "contentMediaType": Keyword("text"),
    "contentSchema": Keyword("any", 2019),
    # From OpenAPI 3: many schemas of tools are written for it.
    "nullable": Keyword("flag"),
    "discriminator": Keyword("any"),
    "example": Keyword("any"),
    "enumNames": Keyword("any"),  # from react-jsonschema-form
    "externalDocs": Keyword("any"),
    "xml": Keyword("any"),
}


def parse_draft(uri: object) -> int:
    """Raises SchemaError for an unknown draft."""
    draft = _DRAFTS.get(uri.removesuffix("#")) if isinstance(uri, str) else None
    if draft is not None:
        return draft
    if isinstance(uri, str) and "json-schema.org/draft-0" in uri:
        raise SchemaError(
            "its $schema is older than draft 4, where `required` had another meaning: use 2020-12"
        )
    raise SchemaError(f"the schema's $schema is not a known draft: {str(uri)[:100]}. Use 2020-12")


def is_keyword(draft: int, name: str) -> bool:
    keyword = KEYWORDS.get(name)
    return keyword is not None and keyword.first <= draft <= keyword.last


def explain_unknown(draft: int, name: str) -> str | None:
    """The problem of a keyword that the draft lacks, and so would ignore; None if the draft has it."""
    if is_keyword(draft, name) or name.startswith("x-"):
        return None
    if keyword := KEYWORDS.get(name):
        drafts = f"{_draft_name(keyword.first)} to {_draft_name(keyword.last)}"
        if keyword.first == keyword.last:
            drafts = _draft_name(keyword.first)
        return f"{name} is a keyword of draft {drafts}, and this is {_draft_name(draft)}: it would be ignored"
    near = get_close_matches(name, [n for n in KEYWORDS if is_keyword(draft, n)], n=1, cutoff=0.6)
    hint = (
        f"; did you mean {near[0]}?"
        if near
        else "; the name of your own keyword must begin with x-"
    )
    return f"{name[:80]} is not a keyword of JSON Schema, so it would be ignored{hint}"


def explain_unchecked_format(name: object) -> str | None:
    """The problem of a format that is not checked; None if it is checked."""
    if name in POLICY_FORMATS or not isinstance(name, str):
        return None
    near = get_close_matches(name, POLICY_FORMATS, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else "use pattern"
    return f"the format {name[:80]!r} is not checked, so it would be ignored: {hint}"


def _draft_name(draft: int) -> str:
    return {2019: "2019-09", 2020: "2020-12"}.get(draft, str(draft))


def find_flaw(holds: Holds, value: Any, draft: int) -> str | None:
    """Why a keyword can't have this value; None if it can. Schemas inside the value are not checked here,
    only their container.
    """
    match holds:
        case "any":
            good, words = True, ""
        case "flag":
            good, words = isinstance(value, bool), "true or false"
        case "text" | "pattern":
            good, words = isinstance(value, str), "a text"
        case "number":
            good, words = is_number(value), "a number"
        case "limit":
            good, words = is_number(value), "a number"
            if draft == 4:
                good, words = isinstance(value, bool), "true or false (in draft 4)"
        case "positive":
            good, words = is_number(value) and value > 0, "a number above 0"
        case "count":
            good = is_number(value) and value >= 0 and value == int(value)
            words = "a whole number, 0 or more"
        case "texts":
            good, words = _are_texts(value), "a list of texts"
        case "values":
            good, words = isinstance(value, list), "a list"
        case "type":
            kinds: list[Any] = [value]
            if isinstance(value, list):
                kinds = cast("list[Any]", value)
            good = {*map(type, kinds)} == {str} and {*kinds} <= {*TYPES}
            words = "one or more of " + ", ".join(TYPES)
        case "schema" | "items":
            good = isinstance(value, dict | bool)
            words = "a schema"
            if holds == "items" and draft < NEWEST:
                good, words = good or isinstance(value, list), "a schema, or a list of schemas"
            elif isinstance(value, list):
                words = "a schema; for a list of schemas, one for each item, use prefixItems"
        case "schemas":
            good, words = isinstance(value, list) and value != [], "a list of schemas"
        case "named" | "patterned" | "dependencies":
            good, words = isinstance(value, dict), "a mapping of schemas"
        case "needs":
            good = isinstance(value, dict)
            good = good and all(map(_are_texts, cast("dict[str, Any]", value).values()))
            words = "a mapping of lists of texts"
    return None if good else f"it must be {words}"


def subschemas(holds: Holds, value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The schemas in a keyword's value, each with its path."""
    if holds == "schema" or (holds == "items" and not isinstance(value, list)):
        yield (), value
    elif holds in ("schemas", "items"):
        for number, each in enumerate(cast("list[Any]", value)):
            yield (str(number),), each
    elif holds in ("named", "patterned", "dependencies"):
        for name, each in cast("dict[str, Any]", value).items():
            if holds != "dependencies" or not isinstance(each, list):
                yield (name,), each


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(x, str) for x in cast("list[Any]", value))
