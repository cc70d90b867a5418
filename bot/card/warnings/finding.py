"""The finding of a check in one text, and the alphabet that all checks of a text share. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from hitl_core.sentences import join_names

from ... import text
from ..model import Line, Span, Strong, Text, Verbatim
from .unicode_data import EAST_ASIAN, is_letter, looks_like, script_of

#: What is odd: characters that reorder others; invisible ones; a host that looks like another; a host in the
#: ASCII form of a foreign one, as a number, or below another name; a URL whose user name looks like its host;
#: a link that runs a script; a name or a link text with another address than the real one; letters that look
#: like others; letters in another form (full-width, mathematical); a sign that looks like another; digits of
#: several kinds; numbers whose order changes; a text that is not in Unicode's usual form; spaces; "more":
#: further arguments.
WarningKind = Literal[
    "reordering",
    "invisible",
    "host",
    "encoded_host",
    "user_in_url",
    "script_link",
    "other_address",
    "look_alike",
    "styled",
    "sign",
    "digits",
    "number_order",
    "not_normal",
    "spaces",
    "more",
]
#: The most characters of a quoted part of the text.
MAX_PART = 60


class Finding(NamedTuple):
    """`words` is the sentence without its subject, such as "contains invisible or control characters"."""

    kind: WarningKind
    words: Line


@dataclass(frozen=True)
class Alphabet:
    """The characters of a text that are not ASCII. Without them, most checks have nothing to find."""

    text: str

    @cached_property
    def chars(self) -> frozenset[str]:
        return frozenset() if self.text.isascii() else frozenset(self.text) - _ASCII

    @cached_property
    def distinct_scripts(self) -> frozenset[str]:
        """The scripts with a letter that looks like no ASCII letter: a reader sees that they are used."""
        return frozenset(script_of(c) for c in self.chars if is_letter(c) and not looks_like(c))

    @cached_property
    def is_east_asian(self) -> bool:
        """Whether full-width forms are usual in this text."""
        return bool(EAST_ASIAN & {script_of(char) for char in self.chars if not looks_like(char)})


_ASCII = frozenset(map(chr, range(128)))


def sentence(*parts: str | Span) -> Line:
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)


def part_of(words: str) -> Verbatim:
    """A part of the text, on one line."""
    return Verbatim(text.shorten(words, MAX_PART))


def is_not(whole: str, part: str, reading: str) -> tuple[Span, ...]:
    """ "is not paypal.com", or "contains something that is not paypal.com"."""
    start = "is " if whole.strip() == part else "contains a part that is "
    return (Text(start), Strong("not"), Text(" "), part_of(reading))


def name_scripts(scripts: Iterable[str]) -> str:
    return join_names(sorted(script.replace("_", " ") for script in scripts))
