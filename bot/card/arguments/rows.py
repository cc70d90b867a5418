"""One row for each value that people read: its label, and how it is shown. No style hides a character."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, cast

from hitl_core.jsonschema import to_pointer

from ... import text
from ...text import MAX_ENDS
from ..values import ValueStyle
from .masking import MaskedArgs, keys_in_order, schema_properties
from .value_text import GAP_IN_LINE, Drawing, draw_values, format_value

#: The most values in a small object.
MAX_PARTS = 6
MAX_LABEL = 60
MAX_FACT_LABEL = 30
#: Between the name of a small object and the name of a value in it.
PATH_SEPARATOR = " › "  # noqa: RUF001
#: The key of a plain argument. Any other is quoted, because it could look like our text.
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
#: A longer value is shown on its own lines.
MAX_INLINE = 160
#: White space that would be lost on one line, or in a quote.
_GAP = re.compile("[\n\t]|   ")
#: Shorter text is not known to be prose.
_MIN_PROSE = 40
#: In code: an indented line, a line that begins with a sign or with a statement.
_CODE = re.compile(
    r"(?im)^[ \t]+\S|^[$>#/|\\@%]|^(?:select|insert|update|delete|drop|create|alter|with|grant|truncate"
    r"|begin|merge|import|from|def|class|function|const|let|var|export|set|sudo)\b"
)
_CODE_SIGN = re.compile(r"[{}\[\]<>=\\|`~^*#;$&+_]")
_SENTENCE_END = re.compile(r"[.!?…](?=\s|\Z)|[。！？]")  # noqa: RUF001
#: Prose has a sentence at least this often, and a sign of code at most this often (in characters).
_SENTENCE, _SIGN_EVERY = 300, 100


class Row(NamedTuple):
    """`is_declared`: the schema has this argument."""

    label: str
    drawing: Drawing
    is_declared: bool


class _Cell(NamedTuple):
    pointer: str
    label: str
    value: Any
    is_declared: bool


def argument_rows(masked: MaskedArgs) -> list[Row]:
    """The declared ones in the schema's order, then the others; of those first the short ones. A currency
    that is shown with its amount has no row.
    """
    cells = [cell for key, value in masked.items for cell in _cells(key, value, masked)]
    drawings = draw_values([(cell.pointer, cell.value) for cell in cells], masked.hints)
    with_amounts = {
        masked.hints[cell.pointer].currency
        for cell, drawing in zip(cells, drawings, strict=True)
        if drawing.has_currency
    }
    rows = [
        Row(cell.label, drawing, cell.is_declared)
        for cell, drawing in zip(cells, drawings, strict=True)
        if cell.pointer not in with_amounts
    ]
    return sorted(
        rows, key=lambda row: 0 if row.is_declared else 1 + has_own_lines(row.drawing.raw)
    )


def _cells(key: str, value: Any, masked: MaskedArgs) -> list[_Cell]:
    """One cell; for a small object one for each value, as in the form."""
    is_declared, pointer = key in masked.declared, to_pointer((key,)) if masked.hints else ""
    is_foreign = bool(masked.declared) and not is_declared
    label = quote_key(key) if is_foreign else argument_label(key, masked.schemas.get(key))
    if not _is_small(key, value, pointer, masked):
        return [_Cell(pointer, label, value, is_declared)]
    own = masked.schemas.get(key)
    own = cast("dict[str, Any]", own) if isinstance(own, dict) else None
    within = schema_properties(own)
    return [
        _Cell(
            f"{pointer}/{name}",
            f"{label}{PATH_SEPARATOR}{argument_label(name, within.get(name))}",
            value[name],
            is_declared and _is_declared_in(masked.declared[key], name),
        )
        for name in keys_in_order(value, own)
    ]


def _is_declared_in(schema: object, name: str) -> bool:
    """Also if the schema leaves open which names there are: they are plain ones."""
    known = schema_properties(cast("dict[str, Any]", schema) if isinstance(schema, dict) else None)
    return name in known or not known


def _is_small(key: str, value: Any, pointer: str, masked: MaskedArgs) -> bool:
    """Whether it is an object with a few short values and plain names. A value with a hint may be long."""
    if not isinstance(value, dict):
        return False
    inner = cast("dict[str, Any]", value)
    return (
        0 < len(inner) <= MAX_PARTS
        and all(map(PLAIN_NAME.fullmatch, (key, *inner)))
        and not any(
            is_large(each)
            for name, each in inner.items()
            if f"{pointer}/{name}" not in masked.hints or not isinstance(each, str)
        )
    )


def is_large(value: Any) -> bool:
    """Whether it would be shown on its own lines."""
    if isinstance(value, str):
        return has_own_lines(value)
    return isinstance(value, dict) or (
        isinstance(value, list) and has_own_lines(format_value(value))
    )


def argument_label(key: str, schema: object = None) -> str:
    """A key on one line, in quotes if it is no plain name. The title of its own schema comes first, as in the
    form, if it says more than the key.
    """
    label = key if PLAIN_NAME.fullmatch(key) else quote_key(key)
    title = cast("dict[str, Any]", schema).get("title") if isinstance(schema, dict) else None
    if not isinstance(title, str) or _normalize_name(title) in ("", _normalize_name(key)):
        return label
    return f"{text.shorten(title.strip(), MAX_LABEL)} ({label})"


def quote_key(key: str) -> str:
    return text.one_line(f'"{key}"')


def cut_label(label: str) -> tuple[str, int]:
    """The label as far as it fits, and how many characters are missing."""
    if 5 * len(label) <= MAX_LABEL:  # an entity has at most five characters
        return label, 0
    cut = text.truncate(label, MAX_LABEL)
    return cut.text, cut.missing


def short_label(key: str, schema: object = None) -> str:
    """For one line with several arguments. A quoted key stays quoted when it is cut."""
    label = argument_label(key, schema)
    if len(label) <= MAX_FACT_LABEL:
        return label
    end = '"' if label.endswith('"') else ""
    return text.clip(label, MAX_FACT_LABEL - len(end)) + end


def _normalize_name(name: str) -> str:
    """A name without its spelling style: `orderId`, `order_id` and "Order ID" are the same."""
    return re.sub(r"[\s_-]", "", name).casefold()


def choose_style(raw: str, visible: str) -> ValueStyle:
    """By its content: a long value or one of several lines is a quote if it is surely prose, else code."""
    if not has_own_lines(raw, visible):
        return "line"
    return "quote" if _is_prose(raw) else "code"


def has_own_lines(raw: str, visible: str = "") -> bool:
    return max(len(raw), len(visible)) > MAX_INLINE or _GAP.search(raw) is not None


def _is_prose(raw: str) -> bool:
    """Whether it surely is sentences, and no code, table or JSON."""
    if len(raw) > 2 * MAX_ENDS:
        raw = raw[:MAX_ENDS] + raw[-MAX_ENDS:]
    if len(raw) < _MIN_PROSE or GAP_IN_LINE.search(raw) or _CODE.search(raw):
        return False
    letters, spaces = sum(map(str.isalpha, raw)), sum(map(str.isspace, raw))
    return (
        10 * letters >= 7 * (len(raw) - spaces)
        and len(_CODE_SIGN.findall(raw)) * _SIGN_EVERY <= len(raw)
        and len(_SENTENCE_END.findall(raw)) * _SENTENCE >= len(raw)
    )
