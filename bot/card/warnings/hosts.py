"""Hosts of links that are written to look like others: encoded, as a number, or below another name. Pure."""

from __future__ import annotations

import re
from ipaddress import IPv4Address
from urllib.parse import unquote

from ..model import Line, Strong
from .finding import Alphabet, Finding, part_of, sentence

#: The first generic top-level domains (RFC 1591). A text that ends in one of them looks like a host.
_GENERIC = ("com", "org", "net", "edu", "gov", "mil", "int")
#: A host without a scheme in front of it.
BARE_HOST = re.compile(
    rf"(?<![\w@.-])((?:[a-z0-9-]{{1,63}}\.){{1,6}}(?:{'|'.join(_GENERIC)}))(?![\w-]|\.\w)",
    re.IGNORECASE,
)
#: What browsers accept as the beginning of a link (url.spec.whatwg.org, "special authority slashes state").
_WEB_URL = re.compile(
    r"(?<![A-Za-z0-9+.-])(?:https?|ftp|wss?):/[/\\]{0,9}([^\s/?#<>\"']{1,300})", re.IGNORECASE
)
_MAIL_HOST = re.compile(r"(?<=[^\s@]@)[A-Za-z0-9.-]{1,253}")
#: The beginning of a link that runs the script in it.
_SCRIPT = re.compile(
    r"(?:\A\s{0,9}|\]\(\s{0,4}<?|href\s{0,4}=\s{0,4}[\"']?)((?:javascript|vbscript):(?=\S)|data:text/html\b)"
    r"|\b((?:javascript|vbscript)://)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+", re.IGNORECASE)


def is_below(host: str, claimed: str) -> bool:
    """Whether the host is this one, or belongs to it."""
    claimed = claimed.removeprefix("www.")
    return host.removeprefix("www.") == claimed or host.endswith(f".{claimed}")


def find_odd_link(alphabet: Alphabet) -> Finding | None:
    whole = alphabet.text
    if match := _SCRIPT.search(whole):
        name = (match[1] or match[2]).rstrip("/")
        return Finding(
            "script_link", sentence("has a link that runs what is written in it (", part_of(name), ")")
        )  # fmt: skip
    for match in _WEB_URL.finditer(whole) if ":/" in whole else ():
        host = match[1].rpartition("@")[2].partition(":")[0]
        if words := _usual_form(host) or _below_another(host):
            return Finding("encoded_host", words)
    for match in _MAIL_HOST.finditer(whole) if "@" in whole else ():
        if words := _below_another(match[0]):
            return Finding("encoded_host", words)
    return None


def _usual_form(host: str) -> Line:
    """The usual form of a link's host; () if it is in that form."""
    before, backslash, after = host.partition("\\")
    if backslash and "." in after:
        ends = ", behind which programs read different hosts"
        return sentence("has a link with a backslash after ", part_of(before), ends)
    if (decoded := unquote(host)) != host:
        return sentence("contains the host ", part_of(host), ", which is ", part_of(decoded))
    if number := _read_number(host):
        return sentence("contains the host ", part_of(host), ", which is ", part_of(number))
    return ()


def _below_another(host: str) -> Line:
    """The real host, if it begins like another one: paypal.com.evil.example."""
    labels = host.lower().strip(".").split(".")
    for at in range(1, len(labels) - 2):
        if labels[at] in _GENERIC:
            real, claimed = ".".join(labels[at + 1 :]), ".".join(labels[: at + 1])
            return sentence(
                "contains a host of ", part_of(real), ", ", Strong("not"), " of ", part_of(claimed)
            )
    return ()


def _read_number(host: str) -> str:
    """The usual form of a host that is a number in another form (url.spec.whatwg.org, "IPv4 parser"); "" for
    all other hosts.
    """
    parts = host.strip(".").split(".")
    if len(parts) > 4 or not all(map(_NUMBER.fullmatch, parts)):
        return ""
    try:
        numbers = [_parse(part) for part in parts]
        *first, last = numbers
        if any(number > 255 for number in first) or last >= 256 ** (5 - len(parts)):
            return ""
    except ValueError:
        return ""
    value = last + sum(number << 8 * (3 - at) for at, number in enumerate(first))
    usual = str(IPv4Address(value))
    return "" if usual == host.strip(".") else usual


def _parse(part: str) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if part[0] == "0" and len(part) > 1 else int(part)
