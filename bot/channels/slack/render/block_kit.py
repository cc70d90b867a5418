"""Block Kit elements, buttons, and who is mentioned. An agent's text only goes into `text_element`, `pre` or
`plain_text`: Slack does not interpret mentions, links or formatting in rich_text and plain_text
(docs.slack.dev/reference/block-kit). It never becomes a mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from hitl_core.model import MessageRef, Place

from .... import text as readable
from ....card import Button, Group, Person, PlaceName, PlaceNames
from ..places import NAME
from .action_ids import MENU, button_id

Block = dict[str, Any]
Element = dict[str, Any]

#: Slack refuses a message with more text in its blocks (msg_blocks_too_long) and documents no limit. Measured
#: by others: 13,200 characters with entities, plus 100 for each block
#: (github.com/slackapi/bolt-js/issues/2509).
MAX_TEXT_SIZE = 13_000
COST_OF_BLOCK = 100
#: Reserved for "and 5 more".
SPARE_SIZE = 300
#: A user id in an agent's text. Nearly all of Slack's ids have a digit; a name in capitals has none.
_CLAIMED_ID = re.compile(r"[UW](?=[A-Z]*\d)[A-Z0-9]{2,20}")
#: An id of a person or a group from Slack or from a policy. In a policy a short one is meant as an id.
_ID = re.compile(r"[UWS][A-Z0-9]{1,30}")

#: Place → its name, for example `#team-ops`.
Names = Callable[[Place], str]
#: Message → its URL, None if it is not known.
MessageLink = Callable[[MessageRef], str | None]
_STYLES = {"positive": "primary", "destructive": "danger"}


def plain_text(text: str, limit: int = 3000) -> Element:
    """`emoji: false`, else Slack shows `:smile:` in an argument as a picture."""
    return {"type": "plain_text", "text": shorten(text, limit) or " ", "emoji": False}


def text_element(
    text: str, *, bold: bool = False, italic: bool = False, strike: bool = False
) -> Element:
    style = {"bold": bold, "italic": italic, "strike": strike}
    enabled = {name: True for name, is_on in style.items() if is_on}
    return {"type": "text", "text": text or " ", **({"style": enabled} if enabled else {})}


def line(*elements: Element) -> Element:
    return {"type": "rich_text_section", "elements": list(elements)}


def pre(text: str) -> Element:
    return {"type": "rich_text_preformatted", "border": 0, "elements": [text_element(text)]}


def rich_text(block_id: str, *elements: Element) -> Block:
    return {"type": "rich_text", "block_id": block_id, "elements": list(elements)}


def mrkdwn(text: str) -> Element:
    """For our own text only. With `verbatim` Slack makes no links of what looks like an address."""
    return {"type": "mrkdwn", "text": shorten(text, 3000), "verbatim": True}


def plain_section(text: str) -> Block:
    return {"type": "section", "text": plain_text(text)}


def context(block_id: str, *elements: Element) -> Block:
    return {"type": "context", "block_id": block_id, "elements": list(elements)}


def header(block_id: str, text: str) -> Block:
    return {"type": "header", "block_id": block_id, "text": plain_text(text, 150)}


def divider(block_id: str) -> Block:
    return {"type": "divider", "block_id": block_id}


def button_blocks(block_id: str, buttons: Sequence[Button], pages_of: str = "") -> list[Block]:
    """One block with these buttons, the rare ones in a menu; none without buttons. `pages_of` is the prefix
    of the ids of the buttons to other pages.
    """
    elements: list[Element] = []
    options: list[tuple[str, str]] = []
    for one in buttons:
        if one.is_rare:
            options.append((one.label, one.value))
        else:
            elements.append(_element(one, button_id(one.verb, one.number, pages_of)))
    if options:
        elements.append(overflow(MENU, options))
    return [actions(block_id, elements)] if elements else []


def _element(one: Button, action_id: str) -> Element:
    style = _STYLES[one.style] if one.style else None
    element = button(action_id, one.label, one.value, one.spoken, style=style)
    if (ask := one.confirmation) is None:
        return element
    return with_confirm(element, ask.title, ask.text, ask.label, _STYLES[ask.style])


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
        "accessibility_label": shorten(label, 75),
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


def input_block(
    block_id: str,
    element: Element,
    label: str,
    hint: str | None,
    *,
    optional: bool,
    dispatches: bool,
) -> Block:
    """`dispatches`: Slack sends each change at once."""
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(label, 150),
        "optional": optional,
        "element": element,
        **({"dispatch_action": True} if dispatches else {}),
    }
    return {**block, "hint": plain_text(hint, 300)} if hint else block


def numbered_options(labels: Sequence[str], limit: int) -> list[Element]:
    """The options of a select menu. The value of each is its index."""
    return [{"text": plain_text(label, limit), "value": str(at)} for at, label in enumerate(labels)]


def text_size(blocks: list[Block]) -> int:
    """What Slack counts towards MAX_TEXT_SIZE, rounded up."""
    texts: list[str] = []
    _collect_texts(blocks, texts)
    return COST_OF_BLOCK * len(blocks) + readable.weight("".join(texts))


def shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _collect_texts(value: object, texts: list[str]) -> None:
    if isinstance(value, list):
        for part in cast("list[object]", value):
            _collect_texts(part, texts)
    elif isinstance(value, dict):
        for key, part in cast("dict[str, object]", value).items():
            if key == "text" and isinstance(part, str):
                texts.append(part)
            else:
                _collect_texts(part, texts)


def mention_id(one: Person | Group | PlaceName) -> str | None:
    """The id by which Slack mentions them; None for a conversation, and for people who are not of Slack: a
    login name on the command line may look like an id.
    """
    if isinstance(one, PlaceName):
        return _place_id(one.place)
    if one.channel != NAME:
        return None
    is_claimed = isinstance(one, Person) and one.is_claimed
    return one.id if (_CLAIMED_ID if is_claimed else _ID).fullmatch(one.id) else None


def place_names(names: Names, link: MessageLink | None = None) -> PlaceNames:
    """What sentences need to know about Slack's places. Without `link` there are no links."""
    if link is None:
        return PlaceNames(names, _is_conversation)

    def conversation_link(place: Place) -> str | None:
        ref = _thread_ref(place)
        return link(ref) if ref else None

    return PlaceNames(names, _is_conversation, link, conversation_link)


def _is_conversation(place: Place) -> bool:
    return _place_id(place) is None


def _place_id(place: Place) -> str | None:
    """The id of the person or group that is this place; None for a conversation."""
    return place.target if place.channel == NAME and _ID.fullmatch(place.target) else None


def _thread_ref(place: Place) -> MessageRef | None:
    """The first message of a thread in Slack."""
    if place.channel != NAME or not place.thread:
        return None
    return MessageRef(channel=NAME, conversation=place.target, ts=place.thread)
