"""Block Kit elements, and buttons with the ids by which Slack finds our listeners. Pure. An agent's text is
only used in rich_text and plain_text, where Slack interprets no mention, link or format
(docs.slack.dev/reference/block-kit).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from ....card import Button, Verb
from ....inbox import Press
from ....text import clip, weight

Block = dict[str, Any]
Element = dict[str, Any]

#: Slack refuses a message with more text in its blocks (msg_blocks_too_long) and documents no limit. Measured
#: by others: 13,200 characters with entities, plus 100 for each block
#: (github.com/slackapi/bolt-js/issues/2509).
MAX_TEXT_SIZE = 13_000
COST_OF_BLOCK = 100
#: The text size reserved for "and 5 more".
SPARE_SIZE = 300
#: The menu of the rare buttons.
MENU = "more"
#: The prefixes of the ids of buttons to other pages, by what has pages.
PAGES = ("review_page", "see_page", "home_page")
#: The verbs that no option of the menu has.
_NOT_IN_MENU = ("see", "back", "next", "file")
_STYLES = {"positive": "primary", "destructive": "danger"}


def plain_text(text: str, limit: int = 3000) -> Element:
    """Plain text with `emoji: false`; otherwise Slack shows `:smile:` in an argument as a picture."""
    return {"type": "plain_text", "text": clip(text, limit) or " ", "emoji": False}


def plain_texts(texts: Iterable[str], limit: int) -> list[Element]:
    return [plain_text(text, limit) for text in texts]


def pre(text: str) -> Element:
    element = {"type": "text", "text": text or " "}
    return {"type": "rich_text_preformatted", "border": 0, "elements": [element]}


def rich_text(block_id: str, *elements: Element) -> Block:
    return {"type": "rich_text", "block_id": block_id, "elements": list(elements)}


class ContextText(NamedTuple):
    """One text of a context block: `plain` as it is; otherwise mrkdwn, which is only for our own texts."""

    text: str
    plain: bool


def plain_section(text: str) -> Block:
    return {"type": "section", "text": plain_text(text)}


def context(block_id: str, texts: Iterable[ContextText]) -> Block:
    """A context block. With `verbatim`, Slack makes no links of texts that look like an address."""
    elements = [
        plain_text(text)
        if plain
        else {"type": "mrkdwn", "text": clip(text, 3000), "verbatim": True}
        for text, plain in texts
    ]
    return {"type": "context", "block_id": block_id, "elements": elements}


def header(block_id: str, text: str) -> Block:
    return {"type": "header", "block_id": block_id, "text": plain_text(text, 150)}


def divider(block_id: str) -> Block:
    return {"type": "divider", "block_id": block_id}


def button_blocks(block_id: str, buttons: Sequence[Button], pages_of: str = "") -> list[Block]:
    """One block with these buttons, the rare ones in a menu; [] without buttons. `pages_of`: the prefix of
    the ids of buttons to other pages.
    """
    elements: list[Element] = []
    options: list[tuple[str, str]] = []
    for one in buttons:
        if one.is_rare:
            options.append((one.label, one.value))
        else:
            elements.append(_element(one, _button_id(one.verb, one.number, pages_of)))
    if options:
        elements.append(overflow(MENU, options))
    return [actions(block_id, elements)] if elements else []


def _element(one: Button, action_id: str) -> Element:
    style = _STYLES[one.style] if one.style else None
    element = button(action_id, one.label, one.value, one.spoken, style=style)
    if (ask := one.confirmation) is None:
        return element
    return with_confirm(element, ask.title, ask.text, ask.label, _STYLES[ask.style])


def _button_id(verb: Verb, number: int | None, pages_of: str) -> str:
    """The id of a button, which is unique in its block."""
    match verb:
        case "answer":
            return f"answer:{number}"
        case "ran" | "rerun" | "skip":
            return f"doubt_{verb}"
        case "back":
            return f"{pages_of}:back"
        case "next":
            return f"{pages_of}:next"
        case _:
            return verb


def has_id(press: Press, id: str) -> bool:
    """Whether a button with this id may have this value. Otherwise a listener could do something else than
    what the person read.
    """
    if id == MENU:
        return press.verb not in _NOT_IN_MENU
    pages_of = id.partition(":")[0]
    return id == _button_id(press.verb, press.number, pages_of) and (
        press.verb not in ("back", "next") or pages_of in PAGES
    )


def actions(block_id: str, elements: list[Element]) -> Block:
    return {"type": "actions", "block_id": block_id, "elements": elements}


def button(
    action_id: str, text: str, value: str, label: str, *, style: str | None = None
) -> Element:
    """`label` is the text for screen readers."""
    element: Element = {
        "type": "button",
        "action_id": action_id,
        "text": plain_text(text, 75),
        "value": value,
        "accessibility_label": clip(label, 75),
    }
    return {**element, "style": style} if style else element


def with_confirm(
    element: Element, title: str, text: str, confirm_label: str, style: str = "primary"
) -> Element:
    """The button with a confirmation dialog."""
    dialog = {"title": plain_text(title, 100), "text": plain_text(text, 300), "style": style}
    return {
        **element,
        "confirm": {
            **dialog,
            "confirm": plain_text(confirm_label, 30),
            "deny": plain_text("Cancel", 30),
        },
    }


def overflow(action_id: str, options: list[tuple[str, str]]) -> Element:
    """`options` are pairs of label and value."""
    menu_options = [{"text": plain_text(text, 75), "value": value} for text, value in options]
    return {"type": "overflow", "action_id": action_id, "options": menu_options}


def text_size(blocks: list[Block]) -> int:
    """The text size as Slack counts it for MAX_TEXT_SIZE, rounded up."""
    texts: list[str] = []
    _collect_texts(blocks, texts)
    return COST_OF_BLOCK * len(blocks) + weight("".join(texts))


def _collect_texts(value: object, texts: list[str]) -> None:
    if isinstance(value, list):
        for part in cast("list[object]", value):
            _collect_texts(part, texts)
    elif isinstance(value, dict):
        for key, part in cast("dict[str, object]", value).items():
            if not isinstance(part, str):
                _collect_texts(part, texts)
            elif key == "text":
                texts.append(part)
