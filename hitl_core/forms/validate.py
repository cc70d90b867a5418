"""Arguments against their schema, in words a person understands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

from jsonschema import ValidationError
from jsonschema.exceptions import UndefinedTypeCheck, UnknownType
from referencing.exceptions import Unresolvable

from hitl_core.forms.form import ArgError, SchemaError
from hitl_core.forms.keywords import OURS
from hitl_core.forms.meter import TooMuchWork
from hitl_core.forms.pointer import pointer
from hitl_core.forms.schema import validator_for

_MAX_ERRORS = 50
_MAX_NAMED = 20  # of the values that are allowed
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
_COUNTED = {
    "Length": ("be", "character", "characters"),
    "Items": ("have", "item", "items"),
    "Properties": ("have", "entry", "entries"),
}
_SENTENCES = {
    "minimum": "must be at least {limit}",
    "maximum": "must be at most {limit}",
    "exclusiveMinimum": "must be more than {limit}",
    "exclusiveMaximum": "must be less than {limit}",
    "not": "is not allowed",
    "None": "is not allowed",  # a schema that is just `false`
    "contains": "does not hold the values that it must",
}


def check_args(schema: Mapping[str, Any] | None, args: Mapping[str, Any]) -> list[ArgError]:
    """What is wrong with the arguments (plain JSON values); [] when nothing is.

    Raises SchemaError for a schema that `check_schema` refuses. Never fetches, and never works for
    long: arguments and schemas that would need it are themselves an error at the top.
    """
    if schema is None:
        return []
    try:
        plain = dict(args)
        errors = validator_for(schema, plain).iter_errors(plain)
        found = [arg for error in islice(errors, _MAX_ERRORS) for arg in _arg_errors(error)]
    except TooMuchWork as error:
        return [ArgError("", str(error))]
    except RecursionError:
        return [ArgError("", "the arguments and their schema are nested too deeply to be checked")]
    except Unresolvable as error:
        raise SchemaError(
            f"the schema refers to something that it does not have: {error}"
        ) from error
    except (UndefinedTypeCheck, UnknownType) as error:
        raise SchemaError("the schema names a type that does not exist") from error
    return list(dict.fromkeys(found))


def _arg_errors(error: ValidationError) -> list[ArgError]:
    if error.validator in ("anyOf", "oneOf") and error.context:
        nearest = _nearest_branch(error)
        if nearest:
            return [arg for inner in nearest for arg in _arg_errors(inner)]
    return [ArgError(pointer(error.absolute_path), _words(error))]


def _nearest_branch(error: ValidationError) -> list[ValidationError]:
    """The errors of the one branch that has the value's type; [] when there is not exactly one."""
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    fitting = [inner for inner in branches.values() if not any(map(_is_another, inner))]
    return fitting[0] if len(fitting) == 1 else []


def _is_another(error: ValidationError) -> bool:
    """Whether it says that another branch is meant: a wrong type, or a wrong constant of a property."""
    keyword, limit = error.validator, cast(Any, error.validator_value)
    if len(error.relative_path) > 1 or (error.relative_path and keyword == "type"):
        return False
    return keyword in ("type", "const") or (keyword == "enum" and len(limit) == 1)


def _words(error: ValidationError) -> str:
    keyword, limit = str(error.validator), cast(Any, error.validator_value)
    if keyword in OURS:
        return error.message
    match keyword:
        case "type":
            return _type_words([limit] if isinstance(limit, str) else limit)
        case "enum":
            return _one_of(limit)
        case "const":
            return f"must be {_shown(limit)}"
        case "anyOf" | "oneOf":
            return _branches_words(error)
        case _ if keyword[3:] in _COUNTED:
            verb, one, many = _COUNTED[keyword[3:]]
            side = "least" if keyword.startswith("min") else "most"
            return f"must {verb} at {side} {limit} {one if limit == 1 else many}"
        case _:
            sentence = _SENTENCES.get(keyword, "breaks the schema's rule {keyword}")
            return sentence.format(limit=limit, keyword=keyword)


def _branches_words(error: ValidationError) -> str:
    inner = list(error.context or ())
    if not inner:
        return "fits more than one of the allowed forms"
    if all(e.validator == "type" and not e.relative_path for e in inner):
        values = [cast(Any, e.validator_value) for e in inner]
        return _type_words([n for v in values for n in ([v] if isinstance(v, str) else v)])
    if all(e.validator == "const" and not e.relative_path for e in inner):
        return _one_of([e.validator_value for e in inner])
    return "fits none of the allowed forms"


def _type_words(names: list[str]) -> str:
    return "must be " + " or ".join(dict.fromkeys(_TYPES.get(name, name) for name in names))


def _one_of(values: list[Any]) -> str:
    words = [_shown(value) for value in values[:_MAX_NAMED]]
    more = len(values) - len(words)
    return "must be one of: " + ", ".join(words) + (f" and {more:,} more" if more else "")


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
