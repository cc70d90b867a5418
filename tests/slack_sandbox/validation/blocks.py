"""Makes blocks."""

from __future__ import annotations

from typing import Any

from tests.slack_sandbox.samples import field, option, plain, text_field

Json = dict[str, Any]


def section(text: Json | None = None, **more: Any) -> Json:
    return {"type": "section", **({"text": text} if text else {}), **more}


def context(*elements: Json) -> Json:
    return {"type": "context", "elements": list(elements)}


def image(**more: Any) -> Json:
    return {"type": "image", "image_url": "https://x.example/a.png", "alt_text": "a", **more}


def select(kind: str, count: int, **more: Any) -> Json:
    return {"type": kind, "options": [option(str(i)) for i in range(count)], **more}


def confirm(**more: Any) -> Json:
    asked = {"title": plain("t"), "text": plain("t"), "confirm": plain("y"), "deny": plain("n")}
    return {**asked, **more}


def text_input(**more: Any) -> Json:
    return text_field(**more)


def number_input(**more: Any) -> Json:
    return field("n", {"type": "number_input", "is_decimal_allowed": False, **more})


def rich(*elements: Json) -> Json:
    return {"type": "rich_text", "elements": list(elements)}


def rich_section(*elements: Json) -> Json:
    return rich({"type": "rich_text_section", "elements": list(elements)})


def table(*rows: list[Json], **more: Any) -> Json:
    return {"type": "table", "rows": list(rows), **more}


def raw(text: str) -> Json:
    return {"type": "raw_text", "text": text}
