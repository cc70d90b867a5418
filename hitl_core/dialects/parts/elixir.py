"""Values as Elixir's `inspect/1` writes them."""

from __future__ import annotations

import json
import re
from typing import cast

from hitl_core.dialects.parts.json import Json

_ATOM = re.compile(r"[a-z_][A-Za-z0-9_]*[?!]?")


def inspect_value(value: object, top: bool = True) -> str:
    """The top-level keys and the `type` of a decision are written as atoms."""
    if isinstance(value, dict):
        items = sorted(cast(Json, value).items())
        pairs = [_format_pair(key, item, top) for key, item in items]
        return f"%{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        each = cast(list[object], value)
        return f"[{', '.join(inspect_value(item, top=False) for item in each)}]"
    if value is None:
        return "nil"
    return json.dumps(value, ensure_ascii=False)


def _format_pair(key: str, value: object, top: bool) -> str:
    if not top:
        return f"{json.dumps(key, ensure_ascii=False)} => {inspect_value(value, top=False)}"
    atom = key == "type" and isinstance(value, str) and _ATOM.fullmatch(value)
    name = key if _ATOM.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return f"{name}: {f':{value}' if atom else inspect_value(value, top=False)}"
