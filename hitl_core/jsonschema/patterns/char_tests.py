"""Tests whether one item of a parsed pattern matches a character. Wide ranges cost no memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

# The constants of the parser of `re`, which have no types.
sre: Any = import_module("re._constants")
CharTest = Callable[[str], bool]

#: Letters that have the same lower case as another letter (the simple case mappings of Unicode).
_EXTRA_CASES = {
    "k": "\u212a",
    "\u00e5": "\u212b",
    "s": "\u017f",
    "i": "\u0130\u0131",
    "\u03c9": "\u2126",
}
_LOWER_CASES = {char: lower for lower, chars in _EXTRA_CASES.items() for char in chars}


def make_char_test(op: Any, value: Any, flags: int) -> CharTest:
    """Raises KeyError for an item that matches no character."""
    if op is sre.ANY:
        return any_char if flags & re.DOTALL else _no_line_end
    if op is sre.NOT_LITERAL:
        return _negate(_ignore_case(_literal(value), flags))
    if op is sre.LITERAL:
        return _ignore_case(_literal(value), flags)
    tests = [_item(o, v, flags) for o, v in value if o is not sre.NEGATE]
    whole = _ignore_case(lambda char: any(test(char) for test in tests), flags)
    return _negate(whole) if value[0][0] is sre.NEGATE else whole


def _item(op: Any, value: Any, flags: int) -> CharTest:
    if op is sre.LITERAL:
        return _literal(value)
    if op is sre.RANGE:
        low, high = value
        return lambda char: low <= ord(char) <= high
    test = _CATEGORIES[str(value).removeprefix("CATEGORY_").removeprefix("NOT_")]
    if flags & re.ASCII:
        test = _only_ascii(test)
    return _negate(test) if "NOT_" in str(value) else test


def _literal(code: int) -> CharTest:
    return chr(code).__eq__


def _ignore_case(test: CharTest, flags: int) -> CharTest:
    """With IGNORECASE, a character matches if one of its case variants does."""
    if not flags & re.IGNORECASE:
        return test
    if flags & re.ASCII:
        return lambda char: test(char) or (char.isascii() and test(char.swapcase()))
    return lambda char: any(test(other) for other in _case_variants(char))


def _case_variants(char: str) -> Iterator[str]:
    yield char
    lower = _LOWER_CASES.get(char, char.lower())
    for other in (lower, char.upper(), lower.upper(), char.casefold(), char.title()):
        if len(other) == 1:
            yield other
    yield from _EXTRA_CASES.get(lower, "")


def _negate(test: CharTest) -> CharTest:
    return lambda char: not test(char)


def _only_ascii(test: CharTest) -> CharTest:
    return lambda char: char.isascii() and test(char)


def any_char(_: str) -> bool:
    return True


def _no_line_end(char: str) -> bool:
    return char != "\n"


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


_CATEGORIES: dict[str, CharTest] = {"DIGIT": str.isdecimal, "SPACE": str.isspace, "WORD": is_word}
