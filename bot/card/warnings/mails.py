"""E-mail addresses that don't go where they seem to: a name or a comment has another address. Pure.

The forms are those of RFC 5322 (section 3.4).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ..model import Strong
from .finding import Alphabet, Finding, part_of, sentence
from .hosts import BARE_HOST, is_below

_ANGLE_MAIL = re.compile(r"<\s{0,4}([^\s<>@]{1,64}@[^\s<>@]{1,253}?)\s{0,4}>")
_PART = r"[^\s<>()\[\]\"',;:@/]"
_MAIL = re.compile(rf"{_PART}{{1,64}}@{_PART}{{1,253}}")
#: Other ways to write the @, in a name.
_AT = re.compile(r"\s{0,4}(?:@|[(\[{]\s{0,4}at\s{0,4}[)\]}])\s{0,4}", re.IGNORECASE)
#: The whole text: one address beside another, in a comment, in angle brackets or as a group's name.
_TWO_MAILS = re.compile(
    rf"\s*(?P<open>[(<]?)\s*({_MAIL.pattern})\s*(?P<between>[)>(<:][)>(<:\s]{{0,9}})({_MAIL.pattern})[\s)>;]{{0,9}}"
)
_HOST = r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,9}\.[A-Za-z]{2,24}"
#: An address, or one written with a percent sign, as the name of a mailbox.
_AS_USER = re.compile(
    rf"(?<![\w.@%+-])\"?((?:{_PART}){{1,64}}(?:@|%(?![0-9A-Fa-f]{{2}}|40)){_HOST})\"?@({_HOST})"
)
#: A mailbox with a quoted name.
_QUOTED_USER = re.compile(rf"\"([^\"\n]{{0,64}}@{_HOST})\"@({_HOST})")
#: How far before a mail address its name may begin.
_NAME_ROOM = 200
_MAX_ONE = 640


def find_other_mail(alphabet: Alphabet) -> Finding | None:
    whole = alphabet.text
    if "@" not in whole:
        return None
    for real, claimed in (*_named_mails(whole), *_second_mail(whole)):
        says = sentence(
            "goes to ", part_of(real), ", ", Strong("not"), " to ", part_of(claimed),
            ", which is only the name",
        )  # fmt: skip
        return Finding("other_address", says)
    for pattern in (_AS_USER, _QUOTED_USER):
        if (match := pattern.search(whole)) and match[1].count("@") + match[1].count("%"):
            says = sentence(
                "goes to a mailbox of ", part_of(match[2]), ", ", Strong("not"), " to ", part_of(match[1])
            )  # fmt: skip
            return Finding("other_address", says)
    return None


def _named_mails(whole: str) -> Iterator[tuple[str, str]]:
    """Mail addresses whose name has another address or host, each with that one."""
    for match in _ANGLE_MAIL.finditer(whole) if "<" in whole else ():
        name = _name_before(whole[max(0, match.start() - _NAME_ROOM) : match.start()])
        name = _AT.sub("@", unicodedata.normalize("NFKC", name))
        for other in _MAIL.findall(name):
            if other.strip(".").casefold() != match[1].casefold():
                yield match[1], other
        host = match[1].rpartition("@")[2].casefold()
        for other in BARE_HOST.finditer(name):
            if not is_below(host, other[1].casefold()):
                yield match[1], other[1]


def _name_before(before: str) -> str:
    """The display name at the end of this text; it may be in quotation marks."""
    name = re.split(r"[>;\n]", before)[-1].rstrip()
    if name.endswith('"'):
        return name.rstrip('"').rpartition('"')[2]
    return name.rpartition(",")[2]


def _second_mail(whole: str) -> Iterator[tuple[str, str]]:
    """The other address of a text that has exactly two and nothing else."""
    match = _TWO_MAILS.fullmatch(whole) if len(whole) <= _MAX_ONE else None
    if match is None:
        return
    first, second = match[2], match[4]
    if first.strip(".").casefold() != second.strip(".").casefold():
        is_second = match["open"] == "(" or ":" in match["between"] or "<" in match["between"]
        yield (second, first) if is_second else (first, second)
