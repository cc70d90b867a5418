"""The one place where the policy meets JSON Schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from referencing import Registry

from hitl_core.forms.form import SchemaError
from hitl_core.forms.meter import Meter
from hitl_core.forms.schema import check_schema, compiled
from hitl_core.model.arguments import JsonObject


def problem_in(schema: dict[str, Any]) -> str | None:
    """A sentence on what is wrong with a schema, None where nothing is."""
    try:
        check_schema(schema)
    except SchemaError as error:
        text = str(error)
        return f"{text[:1].upper()}{text[1:]}."
    return None


def predicate(schema: dict[str, Any]) -> Callable[[JsonObject], bool]:
    """Whether arguments satisfy the schema, compiled once. Raises where finding out would take too long."""
    validator, plain = compiled(schema)
    registry = cast(Any, Registry)()  # empty: nothing is ever fetched

    def is_met(args: JsonObject) -> bool:
        checks = validator(plain, registry=registry, format_checker=Meter(args, strict=True))
        return bool(checks.is_valid(args))

    return is_met
