"""The answers that a question offers. Pure."""

from __future__ import annotations

import json
from typing import Any, cast

from hitl_core.model import ReviewConfig

from .. import text
from .values import Choice

#: Questions with more choices are answered in a form.
MAX_CHOICES = 5
MAX_LABEL = 60


def choices_of(config: ReviewConfig) -> tuple[Choice, ...]:
    """The choices in the schema's order; () if there is no question or the answer is not one of a few values.

    If the tool runs with the answer and that is a boolean, Approve and Reject are the answers, so there are
    no choices.
    """
    schema, allowed = config.answer_schema, config.allowed_decisions
    if schema is None or not {"approve", "respond"} & {*allowed}:
        return ()
    if schema.get("type") == "boolean":
        yes, no = Choice("Yes", True, is_own_label=True), Choice("No", False, is_own_label=True)
        return () if "approve" in allowed else (yes, no)
    choices = [Choice(_label(value, name), value) for value, name in _enum_values(schema)]
    labels = {choice.label for choice in choices}
    return tuple(choices) if 0 < len(choices) <= MAX_CHOICES and len(labels) == len(choices) else ()


def _enum_values(schema: dict[str, Any]) -> list[tuple[Any, str | None]]:
    """The values and titles of an `enum`, or of `oneOf`/`anyOf` branches that each have a `const`."""
    if isinstance(values := schema.get("enum"), list):
        return [(value, None) for value in cast("list[Any]", values)]
    branches = cast("list[Any]", schema.get("oneOf") or schema.get("anyOf") or [])
    known = [cast("dict[str, Any]", one) for one in branches if isinstance(one, dict)]
    if len(known) != len(branches) or not all("const" in one for one in known):
        return []
    return [(one["const"], one.get("title")) for one in known]


def _label(value: Any, name: object) -> str:
    if isinstance(name, str) and name.strip():
        return text.shorten(name.strip(), MAX_LABEL)
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.shorten(written, MAX_LABEL)
