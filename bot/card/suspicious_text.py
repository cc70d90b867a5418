"""Warnings about suspicious characters in arguments and in other texts. Pure, and linear in their length."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice

from .. import text
from .arguments import MaskedArgs, argument_label, cut_label, drop_hidden

MAX_WARNINGS = 5
#: Characters that reorder the text after them: Trojan Source, CVE-2021-42574.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LATIN = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
#: Letters that can look like Latin ones (Unicode Technical Standard 39): some Greek, phonetic, small capital,
#: mathematical and full-width letters and Roman numerals; all of Cyrillic, Armenian, Cherokee, Coptic and
#: Lisu. Greek letters with a shape of their own are not in it, because formulas mix Greek with Latin.
_LOOKALIKES = (
    r"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυικτχϲϳ"
    r"\u0251\u0261\u0269\u026a\u0274\u0280\u028b\u028f\u0299\u029c\u029f\u1d00-\u1d22\u2102-\u2149\u2160-\u2188"
    r"\u0400-\u0481\u048a-\u052f\u0531-\u0556\u0561-\u0587\u13a0-\u13fd\u2c80-\u2cee\ua4d0-\ua4f7\uab70-\uabbf"
    r"\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7cb"
)
#: A mail address, and the host of a URL.
_MAIL = re.compile(r"[^\s<>()\[\]\"',;:@/]{1,64}@([^\s<>()\[\]\"',;:@/]{1,253})")
_HOST = re.compile(r"://(?:[^\s/@]{1,200}@)?([^\s/?#:<>\"'()]{1,253})")
#: Letters that can form whole words that look Latin.
_LOOKALIKE_LETTERS = "асеѕіјорхуԁһԛԝӏкнтмгвыАВСЕНІЈКМОРЅТХУαοριυντκχεΑΒΕΗΙΚΜΝΟΡΤΥΧΖ"
_BARE_HOST = re.compile(
    rf"(?<![\w.@/-])((?:[{_LOOKALIKE_LETTERS}0-9-]+\.)+[A-Za-z]{{2,24}})(?![\w-])"
)
_ASCII_HOST = re.compile(r"[\x00-\x7f]*")
_CONTROL = re.compile(rb"\\[bfru]|\x7f")


def argument_warnings(
    masked: MaskedArgs | None, texts: Iterable[tuple[str, str]] = ()
) -> tuple[str, ...]:
    """One sentence for each argument, and each of the named `texts`, with suspicious text. Stops when there
    are enough.
    """
    text_warnings = (
        f"{name} {odd}." for name, words in texts if words and (odd := find_warning(words))
    )
    in_arguments = _iter_warnings(masked) if masked else ()
    warnings = list(islice(chain(text_warnings, in_arguments), MAX_WARNINGS + 2))
    if len(warnings) > MAX_WARNINGS + 1:
        return (*warnings[:MAX_WARNINGS], "More arguments have warnings too.")
    return tuple(warnings)


def _iter_warnings(masked: MaskedArgs) -> Iterator[str]:
    for key, value in masked.items:
        if odd := find_warning(drop_hidden(f"{key} {text.format_value(value)}")):
            yield f"{cut_label(argument_label(key))[0]} {odd}."


def find_warning(words: str) -> str | None:
    """A warning without its subject, such as "contains invisible or control characters"; None if there is
    none.
    """
    if _BIDI.search(words):
        return "contains a character that changes the order of the text after it"
    if _has_invisible(words):
        return "contains invisible or control characters"
    if words.isascii():
        return None
    if host := _foreign_host(words):
        return f"contains an address whose host is {host}"
    if _mix_pattern().search(words) or _has_foreign_mail(words):
        return "mixes alphabets in one word, so a letter may not be what it looks like"
    if not unicodedata.is_normalized("NFC", words):
        return "isn't in Unicode's usual form (NFC): another text can look exactly like it"
    return None


def is_plain(arguments: bytes) -> bool:
    """Whether this JSON surely needs no warning: only ASCII, no control characters."""
    return arguments.isascii() and _CONTROL.search(arguments) is None


def _has_invisible(words: str) -> bool:
    words = words.replace("\r\n", "\n")
    return any(not text.is_visible(m[0], words, m.start()) for m in text.SUSPECT.finditer(words))


@cache
def _mix_pattern() -> re.Pattern[str]:
    """A Latin letter and a look-alike in one word, with any letters between them."""
    other = rf"(?:(?![{_LATIN}{_LOOKALIKES}])[^\W\d_])*"
    return re.compile(rf"[{_LATIN}]{other}[{_LOOKALIKES}]|[{_LOOKALIKES}]{other}[{_LATIN}]")


def _foreign_host(words: str) -> str | None:
    """The first non-ASCII host, with its ASCII form (RFC 3492)."""
    for sign, pattern in (("@", _MAIL), ("://", _HOST), (".", _BARE_HOST)):
        for match in pattern.finditer(words) if sign in words else ():
            host = match[1].strip(".")
            if not _ASCII_HOST.fullmatch(host):
                labels = [_punycode(label) for label in host.split(".")]
                return f"{text.shorten(host, 60)}, in ASCII {text.shorten('.'.join(labels), 80)}"
    return None


def _has_foreign_mail(words: str) -> bool:
    return "@" in words and any(not match[0].isascii() for match in _MAIL.finditer(words))


def _punycode(label: str) -> str:
    return label if label.isascii() else f"xn--{label.lower().encode('punycode').decode('ascii')}"
