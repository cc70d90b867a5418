"""JSON as people read it on cards, in forms and at a terminal. Pure."""

from __future__ import annotations

import json
from typing import Any, cast

#: A list or an object that fits into this many characters is written on one line.
MAX_LINE = 60


def indent_json(value: Any, indent: str = "") -> str:
    """Indented by two spaces, but each part that is short is on one line. The first line is not indented."""
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    compact = json.dumps(value, ensure_ascii=False)
    if len(compact) <= MAX_LINE:
        return compact
    inner = f"{indent}  "
    if isinstance(value, list):
        parts = [indent_json(one, inner) for one in cast("list[Any]", value)]
    else:
        parts = [
            f"{json.dumps(name, ensure_ascii=False)}: {indent_json(one, inner)}"
            for name, one in cast("dict[str, Any]", value).items()
        ]
    start, end = "[]" if isinstance(value, list) else "{}"
    return f"{start}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{end}"
