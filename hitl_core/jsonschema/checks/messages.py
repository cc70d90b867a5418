"""Writes the problems of a check as errors for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hitl_core.jsonschema.checks.problem import Problem
from hitl_core.jsonschema.checks.together import branches_together
from hitl_core.jsonschema.errors import ArgError
from hitl_core.model import to_pointer

Path = tuple[str | int, ...]
_MAX_VALUES = 20  # allowed values that an error lists
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
_SIZE_WORDS = {
    "Length": ("be", "character", "characters"),
    "Items": ("have", "item", "items"),
    "Properties": ("have", "entry", "entries"),
}
#: The keywords whose messages quote the schema, or keys of the value.
_QUOTING = ("anyOf", "const", "enum", "oneOf", "pattern", "propertyNames")
_SENTENCES = {
    "minimum": "must be at least {limit}",
    "maximum": "must be at most {limit}",
    "exclusiveMinimum": "must be more than {limit}",
    "exclusiveMaximum": "must be less than {limit}",
    "not": "is not allowed",
    "false": "is not allowed",  # the schema `false`
    "contains": "does not have enough items of the required kind",
    "maxContains": "has more than {limit} items of the limited kind",
}

_TOGETHER = {
    "all_set": "can't have all of these together: {names}",
    "none_set": "must have one of these: {names}",
    "values": "{message} ({names})",
}


def list_errors(problem: Problem, around: Path = ()) -> list[ArgError]:
    """The errors of a problem of the value at `around`. A problem of inner values has several."""
    path = (*around, *problem.path)
    if nearest := _nearest_branch(problem):
        return [error for inner in nearest for error in list_errors(inner, path)]
    together = problem.together or branches_together(problem.branches)
    message = _message(problem)
    if together is not None and together.why != "needed_by":
        message = _TOGETHER[together.why].format(message=message, names=", ".join(together.names))
    return [ArgError(to_pointer(path), message, together, quotes=_has_quote(problem))]


def _nearest_branch(problem: Problem) -> Sequence[Problem]:
    """The problems of the only branch that fits this type of value; () if there is none, or more than one."""
    matching = [branch for branch in problem.branches if not any(map(_is_other_branch, branch))]
    return matching[0] if len(matching) == 1 else ()


def _is_other_branch(problem: Problem) -> bool:
    """Whether this problem shows that another branch is meant: a wrong type, or a wrong constant property."""
    keyword, limit = problem.keyword, problem.limit
    if len(problem.path) > 1 or (problem.path and keyword == "type"):
        return False
    return keyword in ("type", "const", "false") or (keyword == "enum" and len(limit) == 1)


def _has_quote(problem: Problem) -> bool:
    return problem.keyword in _QUOTING or problem.together is not None


def _message(problem: Problem) -> str:
    keyword, limit = problem.keyword, problem.limit
    if problem.message is not None:
        return problem.message
    match keyword:
        case "type":
            return _type_message([limit] if isinstance(limit, str) else limit)
        case "enum":
            return _one_of_message(limit)
        case "const":
            return f"must be {_format_value(limit)}"
        case "anyOf" | "oneOf":
            return _branches_message(problem)
        case _ if keyword[3:] in _SIZE_WORDS:
            verb, one, many = _SIZE_WORDS[keyword[3:]]
            side = "least" if keyword.startswith("min") else "most"
            return f"must {verb} at {side} {_format_value(limit)} {one if limit == 1 else many}"
        case _:
            return _SENTENCES[keyword].format(limit=_format_value(limit))


def _branches_message(problem: Problem) -> str:
    inner = [each for branch in problem.branches for each in branch if each.keyword != "false"]
    if not problem.branches:
        return "matches more than one of the allowed forms"
    if inner and all(each.keyword == "type" and not each.path for each in inner):
        values = [each.limit for each in inner]
        return _type_message([n for v in values for n in ([v] if isinstance(v, str) else v)])
    if inner and all(each.keyword == "const" and not each.path for each in inner):
        return _one_of_message([each.limit for each in inner])
    return "matches none of the allowed forms"


def _type_message(names: list[str]) -> str:
    return "must be " + " or ".join(dict.fromkeys(_TYPES.get(name, name) for name in names))


def _one_of_message(values: list[Any]) -> str:
    words = [_format_value(value) for value in values[:_MAX_VALUES]]
    more = len(values) - len(words)
    return "must be one of: " + ", ".join(words) + (f" and {more:,} more" if more else "")


def _format_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
