"""Turns spans into Slack's markup: rich_text elements, and texts of context blocks. Pure.

Slack interprets no mention, link or format in rich_text and plain_text elements
(docs.slack.dev/reference/block-kit). In mrkdwn, every text is made inert, our own too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from ....card import (
    Argument,
    Code,
    Emphasis,
    Group,
    Line,
    Link,
    Person,
    PlaceName,
    Quote,
    Span,
    Strong,
    Struck,
    Text,
    Time,
    Verbatim,
    format_utc,
    quote,
)
from ....card import (
    plain_text as plain_line,
)
from .block_kit import Block, ContextText, Element, context, plain_section, pre
from .mentions import mention_id

#: The separator between the facts of one line, and before facts that follow in their own element.
SEPARATOR = "  ·  "
NEXT = "·  "
#: A context holds ten elements (docs.slack.dev/reference/block-kit/blocks/context-block).
MAX_ELEMENTS = 10

_STYLES: dict[type[Span], str] = {
    Strong: "bold",
    Emphasis: "italic",
    Struck: "strike",
    Code: "code",
}
_SIGNS: dict[type[Span], str] = {Strong: "*", Emphasis: "_", Struck: "~"}
_GRAVE = "\N{MODIFIER LETTER GRAVE ACCENT}"
#: The characters that mrkdwn would turn into a format or an emoji, and the look-alikes that replace them.
#: Links need no replacement, because `block_kit.context` is verbatim.
_LOOKALIKES = (
    (re.compile(r":(?=[^\s:]+:)"), "\N{RATIO}"),
    (re.compile(r"\*"), "\N{ASTERISK OPERATOR}"),
    (re.compile(r"~"), "\N{TILDE OPERATOR}"),
    (re.compile(r"`"), _GRAVE),
    (re.compile(r"(?<!\w)_+|_+(?!\w)"), "\N{FULLWIDTH LOW LINE}"),
)
_SPECIAL = re.compile(r"[:*~`_&<>]")


def rich_elements(line: Iterable[Span]) -> list[Element]:
    """The elements of a rich_text section. Unstyled texts beside each other become one element."""
    elements: list[Element] = []
    for span in line:
        element = _rich_element(span)
        before = elements[-1] if elements else None
        if before and before.keys() == element.keys() == {"type", "text"}:
            elements[-1] = {**before, "text": before["text"] + element["text"]}
        else:
            elements.append(element)
    return elements


def section(line: Iterable[Span]) -> Element:
    return {"type": "rich_text_section", "elements": rich_elements(line)}


def sections(lines: Iterable[Line]) -> list[Element]:
    return [section(line) for line in lines]


def box(argument: Argument, text: str) -> Element:
    """A part of an argument's value on its own lines."""
    if argument.style == "quote":
        return {"type": "rich_text_quote", "border": 0, "elements": [_text_element(text)]}
    return {**pre(text), "language": argument.language} if argument.language else pre(text)


def context_lines(block_id: str, lines: Iterable[Line]) -> list[Block]:
    """One context block. Each line has its own elements; [] without lines."""
    texts = [each for line in lines for each in _context_texts(line)]
    return [context(block_id, texts[:MAX_ELEMENTS])] if texts else []


def context_facts(block_id: str, facts: Iterable[Line]) -> list[Block]:
    """One context block. Facts share elements as far as Slack allows; [] without facts."""
    texts: list[ContextText] = []
    for fact in facts:
        first, *rest = _context_texts(fact)
        if not texts:
            texts.append(first)
        elif not texts[-1].plain and not first.plain:
            texts[-1] = ContextText(f"{texts[-1].text}{SEPARATOR}{first.text}", plain=False)
        else:
            texts.append(first._replace(text=f"{NEXT}{first.text}"))
        texts += rest
    return [context(block_id, texts[:MAX_ELEMENTS])] if texts else []


def mrkdwn_text(line: Iterable[Span]) -> str:
    return "".join(map(_mrkdwn_span, line))


def make_inert(text: str) -> str:
    """The text for mrkdwn in blocks. Formats and emojis can't be escaped there, so their characters are
    replaced by look-alikes.
    """
    if not _SPECIAL.search(text):
        return text
    for pattern, alike in _LOOKALIKES:
        text = pattern.sub(lambda match, alike=alike: alike * len(match[0]), text)
    return escape(text)


def plain_message(text: str) -> dict[str, Any]:
    """A message of plain text, in which Slack interprets nothing."""
    return {"text": notification(text), "blocks": [plain_section(text)]}


def plain_lines(lines: Sequence[str]) -> dict[str, Any]:
    """Like `plain_message`, with a section for each line, because all lines may be too long for one."""
    text = notification("\n".join(lines)[:3000])
    return {"text": text, "blocks": [plain_section(line) for line in lines if line]}


def notification(text: str) -> str:
    """The `text` of a message that has blocks. Slack shows it only in notifications, and reads it aloud to
    people (docs.slack.dev/reference/methods/chat.postMessage#text-blocks-attachments). So it has no
    look-alikes, which sound different. Mentions and links need `<`.
    """
    return escape(text)


def escape(text: str) -> str:
    """Escapes the three characters that Slack interprets in mrkdwn
    (docs.slack.dev/messaging/formatting-message-text#escaping).
    """
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(char, entity)
    return text


def format_date(at: float) -> str:
    """The time in the reader's own time zone. Use it in brackets, because it may begin with a capital,
    "Today" (docs.slack.dev/messaging/formatting-message-text#date-formatting).
    """
    return f"<!date^{int(at)}^{{date_short_pretty}}, {{time}}|{format_utc(at)}>"


def _context_texts(line: Line) -> list[ContextText]:
    """The texts of a line. The words of others are plain_text, in which every character stays as it is. So a
    line that also has a mention, a date or a link is several texts. Our own words are in the text before
    them.
    """
    runs: list[tuple[bool | None, list[Span]]] = []
    for span in line:
        is_plain = None if isinstance(span, Text) else _is_foreign(span)
        before = runs[-1][0] if runs else None
        if runs and (is_plain is None or before in (None, is_plain)):
            runs[-1] = (before if is_plain is None else is_plain, [*runs[-1][1], span])
        else:
            runs.append((is_plain, [span]))
    return [
        ContextText((plain_line(spans) if is_plain else mrkdwn_text(spans)).strip(), bool(is_plain))
        for is_plain, spans in runs
    ]


def _is_foreign(span: Span) -> bool:
    if isinstance(span, Person) and span.is_claimed:
        return mention_id(span) is None
    return isinstance(span, Verbatim | Quote)


def _rich_element(span: Span) -> Element:
    match span:
        case Text() | Verbatim():
            return _text_element(span.text)
        case Strong() | Emphasis() | Struck() | Code():
            return {"type": "text", "text": span.text or " ", "style": {_STYLES[type(span)]: True}}
        case Quote():
            return _text_element(quote(span.text))
        case Person() | Group() | PlaceName():
            id = mention_id(span)
            return _text_element(span.label) if id is None else _id_element(id)
        case Time():
            return _text_element(format_utc(span.at))
        case Link():
            return {"type": "link", "url": span.url, "text": span.label}
    assert_never(span)


def _mrkdwn_span(span: Span) -> str:
    match span:
        case Text() | Verbatim():
            return make_inert(span.text)
        case Strong() | Emphasis() | Struck():
            sign = _SIGNS[type(span)]
            return f"{sign}{make_inert(span.text)}{sign}"
        case Code():
            return f"`{escape(span.text.replace('`', _GRAVE))}`"
        case Quote():
            return make_inert(quote(span.text))
        case Person() | Group() | PlaceName():
            id = mention_id(span)
            return make_inert(span.label) if id is None else _id_mention(id)
        case Time():
            return format_date(span.at)
        case Link():
            return f"<{escape(span.url)}|{make_inert(span.label)}>"
    assert_never(span)


def _text_element(text: str) -> Element:
    return {"type": "text", "text": text or " "}


def _id_element(id: str) -> Element:
    if id.startswith("S"):
        return {"type": "usergroup", "usergroup_id": id}
    return {"type": "user", "user_id": id}


def _id_mention(id: str) -> str:
    return f"<!subteam^{id}>" if id.startswith("S") else f"<@{id}>"
