"""Turns spans into text runs, texts that a client may read as Markdown, and mentions. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple, assert_never

from hitl_core.model import Place
from hitl_core.policy import names_person

from ....card import (
    Code,
    Emphasis,
    Group,
    Line,
    Link,
    Person,
    PlaceName,
    PlaceNames,
    Quote,
    Span,
    Strong,
    Struck,
    Text,
    Time,
    Verbatim,
    quote,
)
from ....text import remove_marks
from ..ids import NAME
from .elements import BOLD, ITALIC, JOINER, Json, Look, text_runs

_LOOKS: dict[type[Span], Look] = {
    Strong: BOLD,
    Emphasis: ITALIC,
    Struck: {"strikethrough": True},
    Code: {"fontType": "monospace"},
}
GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
GROUP = "group:"
#: The most people that one card mentions.
MAX_MENTIONS = 10
_NO_NAME = re.compile(r"[^\w .'’-]+")  # noqa: RUF001

#: Characters with a meaning in Markdown.
MARKDOWN = re.compile(
    r"[*_~`\\\[\]<>&#|]|(?:https?|mailto):|\w\.[^\W\d_]{2}|www\.|^\s*(?:\d+[.)]\s|[-+]\s|={3}|-{3})",
    re.IGNORECASE | re.MULTILINE,
)
#: The characters of formats, and the look-alikes that replace them.
_LOOKALIKES = str.maketrans(
    {
        "*": "\N{ASTERISK OPERATOR}",
        "_": "\N{FULLWIDTH LOW LINE}",
        "~": "\N{TILDE OPERATOR}",
        "`": "\N{MODIFIER LETTER GRAVE ACCENT}",
        "\\": "\N{SET MINUS}",
        "[": "\N{FULLWIDTH LEFT SQUARE BRACKET}",
        "]": "\N{FULLWIDTH RIGHT SQUARE BRACKET}",
        "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
        ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
        "&": "\N{FULLWIDTH AMPERSAND}",
        "#": "\N{FULLWIDTH NUMBER SIGN}",
        "|": "\N{DIVIDES}",
    }
)
#: Some clients make a link of a bare host.
_HOST = re.compile(r"(?<=\w)\.(?=[^\W\d_]{2})|(?<=www)\.", re.IGNORECASE)
#: A person's name and id, see `person_label`.
_NAMED = re.compile(r"“([^“”]*)”(.*)", re.DOTALL)
#: What begins another link or a list in Markdown.
_BEGINS = re.compile(
    r"(?:https?|mailto)(?=:)|^\s*(?:\d+(?=[.)]\s)|(?=[-+]\s|={3}|-{3}))",
    re.IGNORECASE | re.MULTILINE,
)


class _Run(NamedTuple):
    text: str
    look: Look
    #: Our own text, with a macro or a link. It is not joined with others.
    is_live: bool = False


def runs(line: Iterable[Span], names: PlaceNames, look: Look | None = None) -> list[Json]:
    """The runs of a line. Neighbouring texts of the same look become one run."""
    joined: list[_Run] = []
    for span in line:
        run = _run(span, names)
        before = joined[-1] if joined else None
        if before and not (before.is_live or run.is_live) and before.look == run.look:
            joined[-1] = before._replace(text=before.text + run.text)
        else:
            joined.append(run)
    return [element for run in joined for element in _elements(run, look or {})]


def _elements(run: _Run, look: Look) -> list[Json]:
    look = {**look, **run.look}
    if run.is_live:
        return [{"type": "TextRun", "text": run.text, **look}]
    return text_runs(run.text, **look) if run.text else []


def _run(span: Span, names: PlaceNames) -> _Run:
    match span:
        case Text() | Verbatim():
            return _Run(span.text, {})
        case Strong() | Emphasis() | Struck() | Code():
            return _Run(span.text, _LOOKS[type(span)])
        case Quote():
            return _Run(quote(span.text), {})
        case Person():
            return _Run(_cut_name(known_name(span, names), names.longest_person), {})
        case Group() | PlaceName():
            return _Run(known_name(span, names), {})
        case Time():
            return _Run(format_date(span.at), {}, is_live=True)
        case Link():
            opens = {"type": "Action.OpenUrl", "url": span.url}
            return _Run(span.label, {"selectAction": opens}, is_live=True)
    assert_never(span)


def known_name(one: Person | Group | PlaceName, names: PlaceNames) -> str:
    """The label; or the name, if a policy or an agent gave only the id of one of our people or groups. A
    person's name is already quoted, with the start of the id: see `PeopleLookup.person`.
    """
    if isinstance(one, PlaceName):
        return one.label
    is_claimed = isinstance(one, Person) and one.is_claimed
    if not is_claimed and one.label not in (one.id, f"{one.channel}:{one.id}"):
        return one.label
    if one.channel != NAME:
        return _name_elsewhere(one, names, is_claimed=is_claimed)
    guid = one.id.removeprefix(GROUP)
    if not GUID.fullmatch(guid):
        return one.label
    id = f"{GROUP}{guid}" if isinstance(one, Group) else guid
    name = names.name_of(Place.of(NAME, id))
    return one.label if name == id else name


def _name_elsewhere(one: Person | Group, names: PlaceNames, *, is_claimed: bool) -> str:
    """The name in another chat system, of which people here may not know the ids. What an agent names must be
    a person's id there, because a channel may have any name.
    """
    if isinstance(one, Person) and not names_person(f"{one.channel}:{one.id}"):
        return one.label
    name = names.name_of(place := Place.of(one.channel, one.id))
    if name == place:
        return one.label
    return f"{name} (named by the agent)" if is_claimed else name


def _cut_name(label: str, longest: int | None) -> str:
    """The label of a person with at most so many characters of the name. The id stays."""
    named = _NAMED.fullmatch(label)
    if longest is None or named is None or len(named[1]) <= longest:
        return label
    return f"“{named[1][: longest - 1]}…”{named[2]}"


def format_date(at: float) -> str:
    """The time in the reader's own time zone
    (learn.microsoft.com/adaptive-cards/authoring-cards/text-features).
    """
    when = f"{datetime.fromtimestamp(int(at), UTC):%Y-%m-%dT%H:%M:%SZ}"
    return f"{{{{DATE({when}, SHORT)}}}} {{{{TIME({when})}}}}"


def make_inert(text: str) -> str:
    """The text for options. Some clients read options as Markdown, and others show them as they are, so no
    escape works in both: the characters are replaced by look-alikes.
    """
    if not MARKDOWN.search(text):
        return text
    text = _HOST.sub("\N{ONE DOT LEADER}", text.translate(_LOOKALIKES))
    return _BEGINS.sub(lambda begin: begin[0] + JOINER, text)


def mentions(lines: Iterable[Line], names: PlaceNames) -> tuple[list[Json], list[Json]]:
    """An element that mentions our people in these lines, and the card's entities for it; ([], []) if there
    are none. People whom an agent names are not mentioned.
    """
    called: dict[str, str] = {}
    for line in lines:
        for span in line:
            id = _person_id(span)
            if id is not None and len(called) < MAX_MENTIONS:
                called.setdefault(id, _clean(names.name_of(Place.of(NAME, id))))
    named = list(called.values())
    # Teams finds a mention by its text, so people with the same name also have the start of their id.
    called = {
        id: f"{name} {id[:8]}" if name and named.count(name) > 1 else name
        for id, name in called.items()
    }
    texts = {id: f"<at>{name}</at>" for id, name in called.items() if name}
    if not texts:
        return [], []
    block = {"type": "TextBlock", "text": " ".join(texts.values()), "wrap": True}
    entities = [
        {"type": "mention", "text": text, "mentioned": {"id": id, "name": called[id]}}
        for id, text in texts.items()
    ]
    return [block], entities


def _person_id(span: Span) -> str | None:
    """The id of one of our people who is asked to decide: a person who is named only by the id. None for all
    others, also for a person who did something.
    """
    if isinstance(span, Person) and not span.is_claimed and span.channel == NAME:
        id = span.id if span.label in (span.id, f"{NAME}:{span.id}") else ""
    elif isinstance(span, PlaceName) and span.place.channel == NAME:
        id = span.place.target
    else:
        return None
    return id if GUID.fullmatch(id) else None


def _clean(label: str) -> str:
    """The name in the label, with only letters, digits and the signs of names: it goes into Markdown."""
    named = _NAMED.fullmatch(label)
    name = remove_marks(named[1] if named else label)
    return " ".join(_NO_NAME.sub(" ", name).replace("_", " ").split())[:80]
