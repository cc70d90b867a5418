"""Reads answers with a form that was made before they were entered, as a bot does."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hitl_core.forms import make_form


def read_answers(
    schema: Mapping[str, Any] | None,
    args: Mapping[str, Any],
    answers: Mapping[str, str | None],
    *,
    max_text: int = 3000,
    max_options: int = 10_000,
    redact: Collection[str] = (),
) -> dict[str, Any]:
    form = make_form(schema, args, max_text=max_text, max_options=max_options, redact=redact)
    return form.read(answers)
