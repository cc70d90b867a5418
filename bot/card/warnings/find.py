"""Finds what is odd in a call: in its texts, its arguments, and the answers that it offers. Pure; the time of
each check grows only linearly with the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, starmap
from typing import Any, NamedTuple, TypeAlias, cast

from ... import text
from ..arguments import PLACEHOLDER, MaskedArgs, cut_label
from ..model import Line, Quote, Span, Text
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
#: The most warnings above a field of a form, and the most characters of its label in them.
MAX_IN_FIELD, MAX_FIELD_LABEL = 2, 40
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


def call_warnings(
    masked: MaskedArgs | None,
    texts: Iterable[tuple[str, Any]] = (),
    answers: Iterable[tuple[str, Any]] = (),
) -> Warnings:
    """What is odd in the named `texts`, in the arguments (None: they have nothing odd), and in `answers`."""
    arguments = starmap(_named_argument, masked.items if masked else ())
    return find_warnings(chain(_named_texts(texts), arguments, _named_texts(answers)))


def warnings_by_key(masked: MaskedArgs) -> dict[str, tuple[Line, ...]]:
    """What is odd in each argument alone, by key, so that the warnings can be shown beside it."""
    found = _find_in_each([_named_argument(key, value) for key, value in masked.items])
    return {key: lines for (key, _), lines in zip(masked.items, found, strict=True) if lines}


def text_warnings(name: str, words: str) -> tuple[Line, ...]:
    """What is odd in one text beside the arguments."""
    return find_warnings(_named_texts([(name, words)])).lines


def field_warnings(
    labels: Sequence[str], keys: Sequence[Sequence[str]], values: Sequence[Any]
) -> list[tuple[Line, ...]]:
    """What is odd in each value of a form, and in the `keys` that lead to it: at most MAX_IN_FIELD warnings
    for each. The labels have at most MAX_FIELD_LABEL characters.
    """
    named: list[NamedValue] = []
    for label, path, value in zip(labels, keys, values, strict=True):
        for key in reversed(path):
            value = {key: value}
        named.append(NamedValue(Quote(label), value))
    return [
        lines
        if len(lines) <= MAX_IN_FIELD
        else (*lines[:MAX_IN_FIELD], (Text("More in it is odd too."),))
        for lines in _find_in_each(named)
    ]


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


def _find_in_each(values: Iterable[NamedValue]) -> list[tuple[Line, ...]]:
    """The warnings about each of the values alone."""
    return [find_warnings([one]).lines for one in values]


def odd_values(count: int) -> str:
    """The words for a `Warnings.count`, or for a sum of them."""
    least = "at least " * (count > MAX_WARNINGS)
    return f"{least}{count:,} odd value{'s' * (count != 1)}"


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


def _named_argument(key: str, value: Any) -> NamedValue:
    return NamedValue(Quote(cut_label(text.one_line(key))[0]), value, key)


def _named_texts(texts: Iterable[tuple[str, Any]]) -> list[NamedValue]:
    return [NamedValue(Text(name), words) for name, words in texts]
