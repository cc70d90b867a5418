"""Writes a JSON value for people, by its type or by the policy's hint, and chooses its style. Pure.

Two different values never look the same, and no style hides a character.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, assert_never, cast

from hitl_core.json_text import indent_json
from hitl_core.jsonschema import to_pointer
from hitl_core.model import DisplayHint

from ...text import MAX_ENDS
from ..model import ValueStyle
from .masking import PLACEHOLDER

#: Longer JSON is not indented: with deep nesting, indented JSON is up to 30 times as long.
MAX_INDENTED = 8_000
#: A longer list is not written on one line.
MAX_LIST = 120
#: Texts that begin with one of these could be accepted by Python's `json`.
_JSON = frozenset('-0123456789[{"tfnNI')
#: A plain word in a list on one line. Everything else in the list is JSON.
_WORD = r"[\w@+-][\w@.+/:-]*"
_ITEM = re.compile(_WORD)
#: How a list looks on one line: `a, b, "c d", 1`.
LIST_FORM = re.compile(rf'(?:{_WORD}|"(?:[^"\\]|\\.)*")(?:, (?:{_WORD}|"(?:[^"\\]|\\.)*"))+')
#: White space that would get lost on one line, or in a quote.
_GAP = re.compile("[\n\t]|   ")
_GAP_IN_LINE = re.compile("\t|   ")
#: The most digits of an amount that is still easy to read.
_MAX_AMOUNT = 10**24
_AMOUNT = re.compile(r"(-?)(\d+)(?:\.(\d+))?")
_CURRENCY = re.compile("[A-Z]{3}")
#: A web address in which every program reads the same host: no backslash, no second @, no white space.
_ADDRESS = re.compile(
    r"https?://(?:[^\s/?#\\@]*@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:[/?#][^\s\\]*)?"
)
#: A longer value is shown on its own lines.
MAX_INLINE = 160
#: A shorter text never counts as prose.
_MIN_PROSE = 40
#: Signs of code: an indented line, a line that begins with a sign or with a statement.
_CODE = re.compile(
    r"(?im)^[ \t]+\S|^[$>#/|\\@%]|^(?:select|insert|update|delete|drop|create|alter|with|grant|truncate"
    r"|begin|merge|import|from|def|class|function|const|let|var|export|set|sudo)\b"
)
_CODE_SIGN = re.compile(r"[{}\[\]<>=\\|`~^*#;$&+_]")
_SENTENCE_END = re.compile(r"[.!?…](?=\s|\Z)|[。！？]")  # noqa: RUF001
#: Prose has at least one sentence, and at most one sign of code, in this many characters.
_SENTENCE, _SIGN_EVERY = 300, 100


class Drawing(NamedTuple):
    """A value before `text.to_visible`. `style` is None if the content decides it. `host`: the host of a web
    address. `currency`: `raw` includes a currency.
    """

    raw: str
    style: ValueStyle | None = None
    language: str | None = None
    host: str = ""
    has_currency: bool = False

    @property
    def is_block(self) -> bool:
        """Whether it is shown on lines of its own."""
        return has_own_lines(self.raw) if self.style is None else self.style != "line"


def format_value(value: Any) -> str:
    """A text as it is, a short list on one line, everything else as JSON. A text that looks like another
    value, and an empty text, is quoted.
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if _needs_quotes(value) else value
    if type(value) is int:
        return str(value)  # same as json.dumps, but ten times as fast; a call may have many
    if isinstance(value, list) and (short := _short_list(cast("list[Any]", value))):
        return short
    compact = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(compact) > MAX_INDENTED:
        return compact
    return indent_json(value)


def draw_values(
    values: Sequence[tuple[str, Any]], hints: Mapping[str, DisplayHint]
) -> list[Drawing]:
    """The values of one call, each with its pointer. A hint may name another value, such as a currency."""
    if not hints:
        return [Drawing(format_value(value)) for _, value in values]
    find = dict(values).get
    return [draw_value(value, hints.get(pointer), find) for pointer, value in values]


def draw_value(value: Any, hint: DisplayHint | None, find: Callable[[str], Any]) -> Drawing:
    """The value by its hint, or without one if the value does not fit the hint. `find` returns the value at a
    pointer; None if there is none.
    """
    raw = format_value(value)
    if hint is None:
        return Drawing(raw)
    if hint.style == "money":
        return _draw_money(value, hint.currency or "", find)
    if not isinstance(value, str) or not value.strip() or value == PLACEHOLDER:
        return Drawing(raw)
    match hint.style:
        case "text" | "email":
            return Drawing(raw, None if _GAP_IN_LINE.search(raw) else "quote")
        case "code" | "diff":
            return Drawing(raw, "code", hint.language or ("diff" if hint.style == "diff" else None))
        case "markdown-source":
            return Drawing(raw, "code", "markdown")
        case "link":
            address = _ADDRESS.fullmatch(value)
            return Drawing(raw, host=address[1].lower() if address else "")
    assert_never(hint.style)


def format_money(value: Any, currency: Any) -> str | None:
    """Every digit of an amount, in groups, with its currency: `1,200.50 EUR`. None if the value is not a
    plain number, or if the currency is not a code of three letters.
    """
    if type(value) not in (int, float) or not isinstance(currency, str):
        return None
    is_plain = math.isfinite(value) and abs(value) < _MAX_AMOUNT
    if not is_plain or not _CURRENCY.fullmatch(currency):
        return None
    amount = _AMOUNT.fullmatch(repr(value))  # the digits that the arguments have; not 1e-07
    if amount is None or (amount[1] and not value):  # -0.0
        return None
    sign, whole, part = amount.groups()
    # One more zero changes nothing: 120.0 is 120.00.
    digits = f"{int(whole):,}" + (f".{part:0<2}" if part else "")
    return f"{sign}{digits} {currency}"


def amount_text(args: dict[str, Any], key: str, hint: DisplayHint | None) -> str | None:
    """The amount at this key with its currency; None if the hint is not for money, or it is no amount."""
    if hint is None or hint.style != "money":
        return None
    values = {to_pointer((one,)): value for one, value in args.items()}
    drawing = draw_value(args[key], hint, values.get)
    return drawing.raw if drawing.has_currency else None


def _draw_money(value: Any, currency: str, find: Callable[[str], Any]) -> Drawing:
    known = find(currency) if currency.startswith("/") else currency
    if (money := format_money(value, known)) is not None:
        return Drawing(money, has_currency=True)
    if isinstance(value, str) and value != PLACEHOLDER:
        return Drawing(json.dumps(value, ensure_ascii=False))  # so that it can't look like money
    return Drawing(format_value(value))


def choose_styles(raws: Sequence[str], visibles: Sequence[str]) -> list[ValueStyle]:
    """The style of each value by its content. A long value, or one with several lines, is a quote if it is
    clearly prose, otherwise code.
    """
    return [_choose_style(*both) for both in zip(raws, visibles, strict=True)]


def _choose_style(raw: str, visible: str) -> ValueStyle:
    if not has_own_lines(raw, visible):
        return "line"
    return "quote" if _is_prose(raw) else "code"


def has_own_lines(raw: str, visible: str = "") -> bool:
    return max(len(raw), len(visible)) > MAX_INLINE or _GAP.search(raw) is not None


def is_large(value: Any) -> bool:
    """Whether the value would be shown on its own lines."""
    if isinstance(value, str):
        return has_own_lines(value)
    return isinstance(value, dict) or (
        isinstance(value, list) and has_own_lines(format_value(value))
    )


def fact_texts(values: Iterable[Any]) -> list[str]:
    """The values for a line with several of them. A large value is only counted."""
    return [_fact_text(value) for value in values]


def _fact_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict) and is_large(value):
        count = len(cast("Collection[object]", value))
        return f"{count:,} value{'s' * (count != 1)}"
    return format_value(value)


def _short_list(values: list[Any]) -> str | None:
    """The list on one line; None if it is long, has lists or objects, or has fewer than two values (then it
    needs its brackets).
    """
    if not 2 <= len(values) <= MAX_LIST // 3 or any(isinstance(one, dict | list) for one in values):
        return None
    if sum(len(one) for one in values if isinstance(one, str)) > MAX_LIST:
        return None
    joined = ", ".join(map(_format_item, values))
    return joined if len(joined) <= MAX_LIST else None


def _format_item(value: Any) -> str:
    if isinstance(value, str) and _ITEM.fullmatch(value) and not _needs_quotes(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _needs_quotes(text: str) -> bool:
    if not (start := text.strip()[:1]):
        return True
    if len(text) <= MAX_LIST and LIST_FORM.fullmatch(text):
        return True
    if start not in _JSON:
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict | list):
        return True
    shown = format_value(value)  # on one line, spaces alone would tell them apart
    return shown == text or "\n" not in shown


def _is_prose(raw: str) -> bool:
    """Whether the text is clearly sentences, and not code, a table or JSON."""
    if len(raw) > 2 * MAX_ENDS:
        raw = raw[:MAX_ENDS] + raw[-MAX_ENDS:]
    if len(raw) < _MIN_PROSE or _GAP_IN_LINE.search(raw) or _CODE.search(raw):
        return False
    letters, spaces = sum(map(str.isalpha, raw)), sum(map(str.isspace, raw))
    return (
        10 * letters >= 7 * (len(raw) - spaces)
        and len(_CODE_SIGN.findall(raw)) * _SIGN_EVERY <= len(raw)
        and len(_SENTENCE_END.findall(raw)) * _SENTENCE >= len(raw)
    )
