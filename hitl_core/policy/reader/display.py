"""Reads `display`: how single values of the arguments are shown."""

from __future__ import annotations

import re

from hitl_core.model import DisplayHint, DisplayStyle
from hitl_core.policy.reader.config_node import (
    ConfigNode,
    format_value,
    join_choices,
    suggest,
)
from hitl_core.policy.reader.config_values import POINTER_PROBLEM, is_pointer

STYLES: tuple[DisplayStyle, ...] = (
    "text",
    "email",
    "code",
    "diff",
    "markdown-source",
    "money",
    "link",
)
#: https://www.iso.org/iso-4217-currency-codes.html
_CURRENCY = re.compile("[A-Z]{3}")
#: The name of a programming language, as after the ``` of a code block.
_LANGUAGE = re.compile(r"[a-z0-9+#_-]{1,30}")


def read_display(node: ConfigNode) -> tuple[DisplayHint, ...]:
    """A mapping of JSON pointers to styles: `{/body: email, /query: {code: sql}}`."""
    hints: list[DisplayHint] = []
    for pointer, each in (node.entries() or {}).items():
        if not is_pointer(pointer):
            each.add_problem(POINTER_PROBLEM.format(format_value(pointer)))
        elif hint := _read_hint(pointer, each):
            hints.append(hint)
    return tuple(hints)


def _read_hint(pointer: str, node: ConfigNode) -> DisplayHint | None:
    if isinstance(node.value, str):
        style = _read_name(node)
        if style == "money":
            return node.add_problem(
                "Say where its currency is: `money: {currency: /currency}`, or `money: {currency: EUR}`."
            )
        return None if style is None else DisplayHint(pointer=pointer, style=style)
    entries = node.entries()
    if entries is not None and len(entries) != 1:
        node.add_problem(f"This must be one style such as `code: sql`, not {len(entries)}.")
    elif entries is not None:
        [(style, value)] = entries.items()
        return _read_style(pointer, style, value)
    return None


def _read_name(node: ConfigNode) -> DisplayStyle | None:
    return node.one_of(STYLES)


def _read_style(pointer: str, style: str, node: ConfigNode) -> DisplayHint | None:
    """A style with its own settings."""
    if style == "money":
        return _read_money(pointer, node)
    if style == "code":
        language = node.text()
        if language is not None and _LANGUAGE.fullmatch(language):
            return DisplayHint(pointer=pointer, style="code", language=language)
        if language is not None:
            node.add_problem(f"{node} is not a language: write one such as `sql`.")
        return None
    known = style in STYLES
    return node.add_problem(
        f"`{style}` takes no value: write `{pointer}: {style}`."
        if known
        else f"`{style}` is not a style. Use {join_choices(STYLES)}.{suggest(style, STYLES)}"
    )


def _read_money(pointer: str, node: ConfigNode) -> DisplayHint | None:
    fields = node.fields(("currency",), required=("currency",))
    if "currency" not in fields:
        return None
    currency = fields["currency"].text()
    if currency is None:
        return None
    if not _CURRENCY.fullmatch(currency) and not is_pointer(currency):
        return fields["currency"].add_problem(
            f"{fields['currency']} is not a currency: write a code such as `EUR`, or a JSON pointer to it"
            " such as `/currency`."
        )
    return DisplayHint(pointer=pointer, style="money", currency=currency)
