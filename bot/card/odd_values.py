"""Finds what is odd in a call: in the texts about it, in its arguments, in the answers that it offers.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, starmap
from typing import Any

from .. import text
from .arguments import MaskedArgs, cut_label
from .model import Line, Quote, Text
from .warnings import NamedValue, Warnings, find_in_each, find_warnings

#: The most warnings above a field of a form, and the most characters of its label in them.
MAX_IN_FIELD, MAX_FIELD_LABEL = 2, 40


def find_odd_values(
    masked: MaskedArgs | None,
    texts: Iterable[tuple[str, Any]] = (),
    answers: Iterable[tuple[str, Any]] = (),
) -> Warnings:
    """What is odd in the named `texts`, in the arguments (None: they have nothing odd), and in `answers`."""
    arguments = starmap(_named_argument, masked.items if masked else ())
    return find_warnings(chain(_named_texts(texts), arguments, _named_texts(answers)))


def warnings_by_key(masked: MaskedArgs) -> dict[str, tuple[Line, ...]]:
    """What is odd in each argument alone, by key, so that the warnings can be shown beside it."""
    found = find_in_each([_named_argument(key, value) for key, value in masked.items])
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
        for lines in find_in_each(named)
    ]


def _named_argument(key: str, value: Any) -> NamedValue:
    return NamedValue(Quote(cut_label(text.one_line(key))[0]), value, key)


def _named_texts(texts: Iterable[tuple[str, Any]]) -> list[NamedValue]:
    return [NamedValue(Text(name), words) for name, words in texts]
