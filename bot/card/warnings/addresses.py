"""Hosts with letters of other scripts that look like other hosts: in e-mails, in URLs and alone. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from ..model import Line, Strong
from .finding import Alphabet, Finding, is_not, name_scripts, part_of, sentence
from .unicode_data import (
    EAST_ASIAN,
    is_letter,
    latin_like_scripts,
    looks_like,
    read_generously,
    read_word,
    reads_as,
    script_of,
    tables,
)

#: The full stops that browsers take for a dot (RFC 3490, section 3.1).
_DOT = re.compile("[.\u3002\uff0e\uff61]")
#: The separators between the words of a file's name.
_NAME_SIGN = re.compile("[._-]")
#: The characters that end an address: white space, brackets, quotation marks, and East Asian punctuation.
_EDGES = (
    r"\s<>()\[\]{}\"'`,;|\u2018-\u201f\u00ab\u00bb\u3001\u3003-\u3020"
    r"\uff01-\uff0c\uff1a-\uff1f\uff3b\uff3d\uff5b-\uff60\uff62-\uff65"
)
#: A possible address: a run of characters with a dot or an @, or with something that looks like one.
_TOKEN = re.compile(f"[^{_EDGES}]+")
_LAST_DOTS = re.compile(f"{_DOT.pattern}+$")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}:/{2}")
_ENCODED_HOST = re.compile(r"(?<![a-z0-9.-])[a-z0-9.-]*xn--[a-z0-9][a-z0-9.-]*", re.IGNORECASE)
#: The most characters of one part of a host (RFC 1035, section 2.3.4).
_MAX_LABEL = 63


class Host(NamedTuple):
    """What a host looks like, and why it is not that; () if it may be what it looks like."""

    reading: str
    why: Line = ()


def find_odd_address(alphabet: Alphabet) -> Finding | None:
    """An address with letters of other scripts."""
    whole = alphabet.text
    for token in _TOKEN.finditer(whole) if not whole.isascii() else ():
        if not token[0].isascii() and (found := _check_token(whole, token[0], alphabet)):
            return found
    return None


def find_encoded_host(alphabet: Alphabet) -> Finding | None:
    whole = alphabet.text
    if "xn--" in whole.lower() and (match := _ENCODED_HOST.search(whole)):
        says = _decode(match[0].strip("."))
        return Finding(
            "encoded_host", sentence("contains the host ", part_of(match[0]), ", ", *says)
        )
    return None


def _check_token(whole: str, token: str, alphabet: Alphabet) -> Finding | None:
    """A finding about an e-mail address, a URL or a bare host that is not ASCII."""
    scheme = _SCHEME.match(token)
    rest = token[scheme.end() :] if scheme else token
    authority = re.split(r"[/?#\\]", rest, maxsplit=1)[0][:512]
    user, at, host = authority.rpartition("@")
    host = _LAST_DOTS.sub("", host.partition(":")[0])
    is_address = bool(scheme or at)  # otherwise it may be a file's name
    labels = _DOT.split(host)
    if len(labels) < 2 or (not is_address and not _is_ascii_name(labels[-1])):
        return None
    if not is_address and len(labels) == 2 and alphabet.is_east_asian and "." not in host:
        return None  # 。 ends a sentence
    read = _read_host(host, labels, is_address)
    if not read.why and user and not user.isascii() and (name := _read_whole(user)):
        scripts = name_scripts({script_of(char) for char in user if not char.isascii()} - {""})
        why = f": it has {scripts} letters"
        return Finding("host", sentence(*is_not(whole, token, f"{name}@{host}"), why))
    if not read.why:
        return None
    reading = token.replace(host, read.reading, 1)
    if user and not reading.isascii():
        reading = reading.replace(user, read_generously(user), 1)
    return Finding("host", sentence(*is_not(whole, token, reading), ": ", *read.why))


def _is_ascii_name(label: str) -> bool:
    plain = unicodedata.normalize("NFKC", label)
    return plain.isascii() and 2 <= len(plain) <= 24 and plain.isalpha()


def _read_host(host: str, labels: list[str], is_address: bool) -> Host:
    if host.isascii():
        return Host(host)
    plain = unicodedata.normalize("NFKC", ".".join(labels))
    if plain.isascii():
        return Host(plain.lower(), sentence("it has letters or signs in another form"))
    names = labels if is_address else _NAME_SIGN.split(".".join(labels))
    odd = {char for name in names for char in _odd_chars(name)}
    read_label = _read_whole if is_address else read_word
    reads = [read_label(label) or label for label in labels]
    if (not odd and labels[-1].isascii()) or _read_whole(labels[-1]):
        odd = {
            char
            for label, read in zip(labels, reads, strict=True)
            if label != read
            for char in label
            if not char.isascii()
        }
    if not odd:
        return Host(host)
    scripts = name_scripts({script_of(char) for char in odd if is_letter(char)} - {"", "Latin"})
    letters = f"{scripts} letters" if scripts else "letters or signs that look like others"
    encoded = ".".join(map(_encode, _DOT.split(host)))
    reading = read_generously(host)
    return Host(reading, sentence(f"it has {letters} (", part_of(encoded), ")"))


def _odd_chars(label: str) -> set[str]:
    """The characters that no honest name has: letters of scripts that are not written together, rare Latin
    letters that look like others, and signs.
    """
    foreign = {char for char in label if not char.isascii()}
    odd = {char for char in foreign if not (is_letter(char) or _is_mark(char)) and char != "·"}
    odd |= {c for c in foreign if script_of(c) == "Latin" and looks_like(c).isalnum()}
    odd |= foreign & tables().uncommon
    scripts = {script for char in label if is_letter(char) and (script := script_of(char))}
    if len(scripts - EAST_ASIAN) > 1 or (scripts & latin_like_scripts() and len(scripts) > 1):
        odd |= {char for char in foreign if script_of(char) != "Latin"}
    return odd


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or char in "\u00b7\u30fb\u200c\u200d"


def _read_whole(label: str) -> str:
    """The label in ASCII, if all its letters are of one script that can look like Latin."""
    scripts = {script_of(char) for char in label if is_letter(char)}
    if len(scripts) != 1 or not scripts <= latin_like_scripts():
        return ""
    read = [reads_as(char) for char in label]
    return "".join(read) if all(read) else ""


def _encode(label: str) -> str:
    """The label in the form that the network uses (RFC 3492)."""
    if label.isascii() or len(label) > _MAX_LABEL:
        return label
    return f"xn--{label.lower().encode('punycode').decode('ascii')}"


def _decode(host: str) -> Line:
    labels: list[str] = []
    for label in host.lower().split("."):
        encoded = label.removeprefix("xn--")
        try:
            labels.append(
                label if encoded == label else encoded[:_MAX_LABEL].encode().decode("punycode")
            )
        except ValueError:
            return sentence("which has no valid name")
    decoded = ".".join(labels)
    reading = read_generously(decoded)
    if reading.isascii():
        return sentence(
            "which looks like ", part_of(reading), " and is ", Strong("not"), " that: it has foreign letters"
        )  # fmt: skip
    return sentence("which is shown as ", part_of(decoded))
