"""What stands under a field: its description, and its limits in words."""

from __future__ import annotations

from typing import Any, TypeGuard

from hitl_core.forms.formats import format_words


def hint(schema: dict[str, Any]) -> str | None:
    description = schema.get("description")
    limits = [words for words in (_range(schema), _length(schema), *_others(schema)) if words]
    sentence = ", ".join(limits)
    if not isinstance(description, str) or not description.strip():
        return sentence[:1].upper() + sentence[1:] or None
    if not sentence:
        return description.strip()
    text = description.strip()
    end = "" if text[-1] in ".!?:" else "."
    return f"{text}{end} {sentence[:1].upper()}{sentence[1:]}"


def _range(schema: dict[str, Any]) -> str | None:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f"{least} to {most}"
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    words = [
        f"at least {least}" if least is not None else None,
        f"at most {most}" if most is not None else None,
        f"more than {above}" if is_number(above) else None,
        f"less than {below}" if is_number(below) else None,
    ]
    return ", ".join(word for word in words if word) or None


def _length(schema: dict[str, Any]) -> str | None:
    least, most = schema.get("minLength") or 0, schema.get("maxLength")
    if least == most:
        return f"exactly {least} character" + "s" * (least != 1)
    if least > 1 and most is not None:
        return f"{least} to {most} characters"
    if most is not None:
        return f"at most {most} character" + "s" * (most != 1)
    return f"at least {least} characters" if least > 1 else None


def _others(schema: dict[str, Any]) -> list[str | None]:
    step, pattern = schema.get("multipleOf"), schema.get("pattern")
    return [
        f"a multiple of {step}" if step is not None else None,
        format_words(schema.get("format")),
        f"pattern {pattern}" if pattern is not None else None,
    ]


def is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
