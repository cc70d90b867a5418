"""Runs all checks on the texts of a call. Pure; the time of each check grows only linearly with the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, cast

from ..arguments import PLACEHOLDER
from ..model import Line, Span, Text
from .addresses import find_encoded_host, find_odd_address
from .finding import Alphabet, Finding, WarningKind, sentence
from .hosts import find_odd_link
from .letters import find_fake_letter, find_look_alike, find_styled
from .links import find_other_text, find_user_in_url
from .mails import find_other_mail
from .signs import (
    find_fake_sign,
    find_invisible,
    find_not_normal,
    find_number_order,
    find_odd_digits,
    find_reordering,
    find_spaces,
    remove_reordering,
)

#: The most odd values that are described. More are only mentioned.
MAX_WARNINGS = 5
#: JSON with none of these certainly needs no warning: escapes of control characters, addresses, encoded
#: hosts, runs of spaces, and spaces at an edge.
_ODD_JSON = re.compile(rb'(?i)\\[bfru]|\x7f|@|//|script:|text/html|xn--|  |" | "')
#: The same for a single text.
_ODD_TEXT = re.compile(r"(?i)[\x00-\x08\x0b-\x1f\x7f]|@|//|script:|text/html|xn--|  |\A | \Z")
_Checks: TypeAlias = tuple[Callable[[Alphabet], Finding | None], ...]
#: The checks, the most important first. At most one check of a group reports something.
_ORDER_AND_HIDDEN: _Checks = (find_reordering, find_invisible)
_READS_LIKE: _Checks = (
    find_other_mail,
    find_other_text,
    find_odd_address,
    find_user_in_url,
    find_encoded_host,
    find_odd_link,
    find_look_alike,
    find_styled,
    find_fake_letter,
    find_fake_sign,
    find_not_normal,
)
_OTHERS: tuple[_Checks, ...] = ((find_odd_digits,), (find_number_order,), (find_spaces,))


class NamedValue(NamedTuple):
    """A value to check, with its name. `key`: the value's own name, if an agent chose it."""

    name: Span
    value: Any
    key: str = ""


@dataclass(frozen=True)
class Warnings:
    """Sentences about odd values, each beginning with the value's name; their kinds; and the number of these
    values, which is at most MAX_WARNINGS + 1.
    """

    lines: tuple[Line, ...]
    kinds: tuple[WarningKind, ...]
    count: int


def is_plain(arguments: bytes) -> bool:
    """Whether this JSON certainly needs no warning."""
    return arguments.isascii() and _ODD_JSON.search(arguments) is None


def find_text(words: str, *, is_key: bool = False) -> tuple[Finding, ...]:
    """What is odd in one text: at most one finding of each group."""
    words = words.replace(PLACEHOLDER, "")
    if words.isascii() and not _ODD_TEXT.search(words):
        return ()
    alphabet = Alphabet(words)
    if is_key and find_number_order(Alphabet(f"{words}  1")):  # its value may begin with a digit
        says = "has right-to-left letters behind a number, which move its value before them"
        return (Finding("number_order", sentence(says)),)
    if is_key and (spaces := find_spaces(alphabet, is_key=True)):
        return (spaces,)
    # Characters that change the order have their own warning, and are not letters of a host or word.
    letters = Alphabet(remove_reordering(words))
    groups = (
        (_ORDER_AND_HIDDEN, alphabet),
        (_READS_LIKE, letters),
        *((one, alphabet) for one in _OTHERS),
    )
    found = (next((odd for check in group if (odd := check(of))), None) for group, of in groups)
    return tuple(odd for odd in found if odd)


def find_warnings(values: Iterable[NamedValue]) -> Warnings:
    """The warnings about the first odd values, and a last line if there are more."""
    lines: list[Line] = []
    kinds: list[WarningKind] = []
    count = 0
    for one in values:
        found = _check_value(one)
        count += bool(found)
        if count > MAX_WARNINGS:
            lines.append(sentence("More values have warnings too."))
            kinds.append("more")
            break
        lines += [(one.name, Text(" "), *odd.words, Text(".")) for odd in found]
        kinds.extend(odd.kind for odd in found)
    return Warnings(tuple(lines), tuple(kinds), count)


def find_in_each(values: Iterable[NamedValue]) -> list[tuple[Line, ...]]:
    """The warnings about each of the values alone."""
    return [find_warnings([one]).lines for one in values]


def odd_values(count: int) -> str:
    """The words for a `Warnings.count`, or for a sum of them."""
    least = "at least " * (count > MAX_WARNINGS)
    return f"{least}{count:,} odd value{'s' * (count != 1)}"


def _check_value(one: NamedValue) -> list[Finding]:
    """At most one finding of each kind about one value, including all texts and keys inside it."""
    texts = chain(((one.key, True),) if one.key else (), _texts_of(one.value))
    found = chain.from_iterable(find_text(words, is_key=is_key) for words, is_key in texts)
    by_kind: dict[WarningKind, Finding] = {}
    for odd in found:
        by_kind.setdefault(odd.kind, odd)
    return list(by_kind.values())


def _texts_of(value: Any) -> Iterator[tuple[str, bool]]:
    """Each text, and whether it is a key."""
    stack: list[Any] = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one, False
        elif isinstance(one, list):
            stack += reversed(cast("list[Any]", one))
        elif isinstance(one, dict):
            inner = cast("dict[str, Any]", one)
            yield from ((key, True) for key in inner)
            stack += reversed(list(inner.values()))
