"""Links whose text, or whose user name, looks like another host than the one to which they lead. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import Strong
from .finding import Alphabet, Finding, part_of, sentence
from .hosts import BARE_HOST, is_below

#: A URL with something and an @ before its host (RFC 3986, section 3.2.1). Browsers end a host at a
#: backslash, accept any number of slashes and backslashes after these schemes, and need no scheme.
_USER_IN_URL = re.compile(
    r"(?<![A-Za-z0-9+.-])((?:https?|ftp|wss?):[/\\]{0,9}|[A-Za-z][A-Za-z0-9+.-]{0,30}:/{2}|(?<![:/\\])/{2})"
    r"([^\s/?#@<>\"]{1,300}+)@([^\s/?#<>\"']{1,253})",
    re.IGNORECASE,
)
_URL = r"(?P<url>(?:https?:)?//[^\s\"'<>|()]{1,500}+)"
_TEXT_WITH_TAGS = r"(?P<text>(?:[^<>\n]|<(?!/?a\b)[^<>\n]{0,100}>){1,200}+)"
#: Links in Markdown, in HTML and in the format of chat systems: the target and the text.
_LINKS = (
    re.compile(rf"\[(?P<text>[^\[\]\n]{{1,200}}+)\]\(\s{{0,4}}<?{_URL}"),
    re.compile(
        rf"<a\s[^<>\n]{{0,200}}?href\s{{0,4}}=\s{{0,4}}[\"']?{_URL}[^<>\n]{{0,200}}+>{_TEXT_WITH_TAGS}</a>",
        re.IGNORECASE,
    ),
    re.compile(rf"<{_URL}\|(?P<text>[^<>|\n]{{1,200}}+)>"),
)
#: A link in Markdown whose target is on its own line.
_REFERENCE = re.compile(r"\[(?P<text>[^\[\]\n]{1,200}+)\]\[(?P<id>[^\[\]\n]{1,60}+)\]")
_TARGET = re.compile(rf"(?m)^ {{0,3}}\[(?P<id>[^\[\]\n]{{1,60}}+)\]:\s{{0,4}}<?{_URL}")
_HOST = re.compile(
    r"(?:(?:https?:)?//|\bwww\.)(?:[^\s/?#@]{1,200}@)?([^\s/?#:<>\"'()]{1,253})", re.IGNORECASE
)


def find_user_in_url(alphabet: Alphabet) -> Finding | None:
    whole = alphabet.text
    for match in _USER_IN_URL.finditer(whole) if "@" in whole else ():
        scheme, before, after = match.groups()
        host, user = after.rpartition("@")[2], before.partition(":")[0].rstrip("\\")
        if scheme.lower().startswith("http") or "." in user:
            words = sentence(
                "has a link to ", part_of(host), ", ", Strong("not"), " to ", part_of(user),
                ": what comes before the @ is only a user's name",
            )  # fmt: skip
            return Finding("user_in_url", words)
    return None


def find_other_text(alphabet: Alphabet) -> Finding | None:
    for real, claimed in _link_texts(alphabet.text) if "//" in alphabet.text else ():
        says = sentence(
            "goes to ", part_of(real), ", ", Strong("not"), " to ", part_of(claimed),
            ", which is only the link's text",
        )  # fmt: skip
        return Finding("other_address", says)
    return None


def _link_texts(whole: str) -> Iterator[tuple[str, str]]:
    """Link targets whose text names another host, each with that host."""
    for url, words in _links(whole):
        target, text = _HOST.search(url), _HOST.search(words) or BARE_HOST.search(words)
        if target and text:
            real, claimed = (host[1].casefold() for host in (target, text))
            if not is_below(real, claimed):
                yield target[1], text[1]


def _links(whole: str) -> Iterator[tuple[str, str]]:
    """The target and the text of each link."""
    for pattern in _LINKS:
        for match in pattern.finditer(whole):
            yield match["url"], match["text"]
    if "][" in whole:
        targets = {match["id"].casefold(): match["url"] for match in _TARGET.finditer(whole)}
        for match in _REFERENCE.finditer(whole) if targets else ():
            if url := targets.get(match["id"].casefold()):
                yield url, match["text"]
