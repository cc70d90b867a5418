"""The default description of a call in each other system, exactly as that system writes it. Pure."""

from __future__ import annotations

import json
from typing import Any, cast

from hitl_core.model import DialectName, ToolCall


def default_description(dialect: DialectName, prefix: str, call: ToolCall) -> str | None:
    """The system's default description, made of prefix, name and arguments. "" if the system shows an empty
    one; None if it has none.
    """
    match dialect:
        case "langchain" | "langchain_per_call":
            return f"{prefix}\n\nTool: {call.name}\nArgs: {call.args}"
        case "langchain_js" | "xpertai":
            return f"{prefix}\n\nTool: {call.name}\nArgs: {to_javascript(call.args)}"
        case "sagents":
            return ""
        case "agent_inbox" | "arcgis":
            return None


def to_javascript(value: object, indent: int = 2) -> str:
    """`JSON.stringify(value, null, indent)`; with an indent of 0 `JSON.stringify(value)`."""
    return "".join(_write_value(value, "\n" if indent else "", " " * indent))


def _write_value(value: object, start: str, step: str) -> list[str]:
    if isinstance(value, dict):
        colon = ": " if step else ":"
        pairs = [
            [json.dumps(key, ensure_ascii=False), colon, *_write_value(item, start + step, step)]
            for key, item in _javascript_order(cast(dict[str, Any], value))
        ]
        return _enclose("{", pairs, "}", start, step)
    if isinstance(value, list):
        items = [_write_value(item, start + step, step) for item in cast(list[object], value)]
        return _enclose("[", items, "]", start, step)
    if isinstance(value, float):
        return [_number(value)]
    return [json.dumps(value, ensure_ascii=False)]


def _enclose(left: str, parts: list[list[str]], right: str, start: str, step: str) -> list[str]:
    if not parts:
        return [left, right]
    inner = [piece for part in parts for piece in (",", start + step, *part)][1:]
    return [left, *inner, start, right] if step else [left, *(p for p in inner if p), right]


def _javascript_order(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """JavaScript's order of keys: array indexes first, by number; then all others in their order."""
    return sorted(
        value.items(), key=lambda item: (0, int(item[0])) if _is_index(item[0]) else (1, 0)
    )


def _is_index(key: str) -> bool:
    plain = key.isascii() and key.isdecimal() and len(key) <= 10
    return plain and str(int(key)) == key and int(key) < 2**32 - 1


def _number(value: float) -> str:
    """ECMA-262, Number::toString: the same shortest digits as in Python, in another format."""
    digits, _, exponent = f"{value!r}e".partition("e")
    whole, _, fraction = digits.lstrip("-").partition(".")
    fraction = fraction if fraction != "0" else ""
    point = len(whole) + int(exponent.rstrip("e") or 0)
    figures = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(figures)
    figures = figures.rstrip("0")
    sign = "-" if value < 0 else ""
    if not figures:
        return "0"
    if 0 < point <= 21:
        left, right = figures[:point].ljust(point, "0"), figures[point:]
        return sign + left + (f".{right}" if right else "")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{figures}"
    power = point - 1
    head = figures[0] + (f".{figures[1:]}" if figures[1:] else "")
    return f"{sign}{head}e{'+' if power > 0 else '-'}{abs(power)}"
