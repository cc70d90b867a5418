# ruff: noqa: RUF001
"""The checks take linear time: even the largest arguments take only a moment."""

from __future__ import annotations

import random

import pytest

from bot.card.warnings import find_text
from tests.support.cpu_time import cpu_limit

#: Characters of the largest arguments, one byte or two each.
ONE, TWO = 240_000, 120_000


def _words(first: int, last: int, size: int) -> str:
    some = random.Random(first)
    letters = [chr(code) for code in range(first, last)]
    return " ".join("".join(some.choices(letters, k=size)) for _ in range(TWO // (size + 1)))


TEXTS = {
    "words": "lorem ipsum " * (ONE // 12) + "x",
    "addresses": "a@b.c " * (ONE // 6) + "x",
    "angles": "<" * ONE + "@",
    "anchors": ("<a " + "href=http://" * 14 + "\n") * (ONE // 180),
    "brackets": "[" * ONE + "](http://",
    "symbols": "a⍳" * (TWO // 3),
    "raised": "1²" * (TWO // 3),
    "digit letters": "1Ʒ" * (TWO // 3),
    "slashes": "//a" * (ONE // 3) + "@",
    "targets": "[a][b]\n[b]: //c.com\n" * (ONE // 19),
    "tags": "<a href=//x.com>" + "<b>" * (ONE // 3),
    "brackets and addresses": "(a@b.com) " * (ONE // 10),
    "hosts in hosts": "https://" + "a.com." * (ONE // 6),
    "generic hosts": '"' + "a.com " * (ONE // 6) + '" <x@y.org>',
    "at signs": "a@b.com@" * (ONE // 8),
    "percent": "a%b.com" * (ONE // 7) + "@x.org",
    "schemes": "a://" * (ONE // 4),
    "users": ("a://" + "b" * 299) * (ONE // 303),
    "hosts": "a." * (ONE // 2 - 10) + "xn--",
    "encoded": "xn--" * (ONE // 4),
    "Russian": _words(0x430, 0x450, 2),
    "longer Russian": _words(0x430, 0x450, 8),
    "Chinese": _words(0x4E00, 0x9FFF, 29),
    "Hebrew": _words(0x5D0, 0x5EB, 8),
    "numbers": "א 1 ab " * (TWO // 7),
    "one word": "x" * ONE + "ж.",
    "full-width": "a" * ONE + "Ａ日",
    "one symbol": "x" * ONE + " ℝ",
    "mail": ("я" * 60 + "@") * (TWO // 61),
    "dots": "я." * (TWO // 2),
    "marks": "d\u0307\u0323" * (TWO // 3),
    "joiners": "ی\u200cی" * (TWO // 3),
    "digits": "1," * TWO + "٣",
    "signs": "a∕ " * (TWO // 3),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_the_largest_text_is_checked_in_a_moment(kind: str) -> None:
    """Given arguments as large as any, then all checks take less than a second and a half of CPU time (as a
    rule a tenth of it); with a quadratic check they would take minutes."""
    with cpu_limit(1.5):
        find_text(TEXTS[kind])
