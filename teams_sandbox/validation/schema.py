"""The official schema of Adaptive Cards 1.5 (draft 06), with errors that name the place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft6Validator, validators
from jsonschema.exceptions import ValidationError

from ..json_checks import Json, is_object

_FILE = Path(__file__).with_name("schema-1.5.json")
_REF = "#/definitions/"


def schema_problems(card: Json) -> Iterator[str]:
    """One line for each problem that the schema finds: a JSON pointer and the reason."""
    for error in _validator().iter_errors(card):
        error = _deepest(error)
        pointer = "".join(f"/{part}" for part in error.absolute_path)
        yield f"{pointer or '/'}: {error.message[:300]}"


@cache
def _validator() -> Any:
    schema = json.loads(_FILE.read_text("utf-8"))
    return cast("Any", validators).extend(Draft6Validator, {"anyOf": _any_of})(schema)


def _any_of(
    validator: Any, branches: list[Json], instance: object, schema: Json
) -> Iterator[ValidationError]:
    """As the standard's `anyOf`. But where each branch is an element of one type, only the branch of the
    instance's own type is tried: its errors say what is wrong, and a long card is checked fast."""
    by_type = _branches_by_type(branches)
    if by_type and is_object(instance):
        kind = instance.get("type")
        if isinstance(kind, str) and kind in by_type:
            yield from validator.descend(instance, by_type[kind])
        else:
            known = ", ".join(sorted(by_type))
            yield ValidationError(f"the type {kind!r} is not one of {known}")
        return
    yield from Draft6Validator.VALIDATORS["anyOf"](validator, branches, instance, schema)


def _branches_by_type(branches: list[Json]) -> Mapping[str, Json]:
    """`{"TextBlock": branch, …}` for the branches of "ImplementationsOf.…"; {} for others."""
    named: dict[str, Json] = {}
    for branch in branches:
        match branch:
            case {"required": ["type"], "allOf": [{"$ref": str(ref)}]}:
                named[ref.removeprefix(_REF)] = branch
            case _:
                return {}
    return named


def _deepest(error: ValidationError) -> ValidationError:
    """The error of the branch that matched the card to the greatest depth."""
    while error.context:
        error = max(error.context, key=lambda one: len(one.absolute_path))
    return error
