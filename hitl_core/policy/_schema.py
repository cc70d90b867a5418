"""The one place where the policy meets JSON Schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hitl_core.forms.form import SchemaError
from hitl_core.forms.schema import check_schema, validator_for
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
    """Whether arguments satisfy the schema. Raises where finding out would take too long."""
    return lambda args: bool(validator_for(schema, args).is_valid(args))
