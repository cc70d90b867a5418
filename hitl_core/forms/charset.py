"""Which characters one item of a parsed pattern reads. Asked of each, so wide ranges cost nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

c: Any = import_module("re._constants")  # what the parser of `re` says; it has no types
Reads = Callable[[str], bool]

#: Other letters with the same lower case (the simple case mappings of Unicode).
_ALSO = {"k": "\u212a", "\u00e5": "\u212b", "s": "\u017f", "i": "\u0130\u0131", "\u03c9": "\u2126"}
_SAME = {char: lower for lower, chars in _ALSO.items() for char in chars}


def reader(op: Any, value: Any, flags: int) -> Reads:
    """Raises KeyError for an item that reads no character."""
    if op is c.ANY:
        return everything if flags & re.DOTALL else _no_line_end
    if op is c.NOT_LITERAL:
        return _not(_cased(_literal(value), flags))
    if op is c.LITERAL:
        return _cased(_literal(value), flags)
    tests = [_item(o, v, flags) for o, v in value if o is not c.NEGATE]
    whole = _cased(lambda char: any(test(char) for test in tests), flags)
    return _not(whole) if value[0][0] is c.NEGATE else whole


def _item(op: Any, value: Any, flags: int) -> Reads:
    if op is c.LITERAL:
        return _literal(value)
    if op is c.RANGE:
        low, high = value
        return lambda char: low <= ord(char) <= high
    test = _CATEGORIES[str(value).removeprefix("CATEGORY_").removeprefix("NOT_")]
    if flags & re.ASCII:
        test = _ascii(test)
    return _not(test) if "NOT_" in str(value) else test


def _literal(code: int) -> Reads:
    return chr(code).__eq__


def _cased(test: Reads, flags: int) -> Reads:
    """With IGNORECASE, a character is read where one of its other cases is."""
    if not flags & re.IGNORECASE:
        return test
    if flags & re.ASCII:
        return lambda char: test(char) or (char.isascii() and test(char.swapcase()))
    return lambda char: any(test(other) for other in _cases(char))


def _cases(char: str) -> Iterator[str]:
    yield char
    lower = _SAME.get(char, char.lower())
    for other in (lower, char.upper(), lower.upper(), char.casefold(), char.title()):
        if len(other) == 1:
            yield other
    yield from _ALSO.get(lower, "")


def _not(test: Reads) -> Reads:
    return lambda char: not test(char)


def _ascii(test: Reads) -> Reads:
    return lambda char: char.isascii() and test(char)


def everything(_: str) -> bool:
    return True


def _no_line_end(char: str) -> bool:
    return char != "\n"


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


_CATEGORIES: dict[str, Reads] = {"DIGIT": str.isdecimal, "SPACE": str.isspace, "WORD": is_word}
