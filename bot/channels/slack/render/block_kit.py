"""Block Kit elements. An agent's text only goes into `text_element`, `pre` or `plain_text`: Slack does not
interpret mentions, links or formatting in rich_text and plain_text (docs.slack.dev/reference/block-kit).
"""

from __future__ import annotations

from typing import Any, cast

from .... import text as readable

Block = dict[str, Any]
Element = dict[str, Any]

#: Slack refuses a message with more text in its blocks (msg_blocks_too_long) and documents no limit. Measured
#: by others: 13,200 characters with entities, plus 100 for each block
#: (github.com/slackapi/bolt-js/issues/2509).
MAX_TEXT_SIZE = 13_000
COST_OF_BLOCK = 100


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


def context(block_id: str, *elements: Element) -> Block:
    return {"type": "context", "block_id": block_id, "elements": list(elements)}


def header(block_id: str, text: str) -> Block:
    return {"type": "header", "block_id": block_id, "text": plain_text(text, 150)}


def divider(block_id: str) -> Block:
    return {"type": "divider", "block_id": block_id}


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


def with_confirm(element: Element, title: str, text: str, confirm_label: str) -> Element:
    """The button with a confirmation dialog."""
    dialog = {"title": plain_text(title, 100), "text": plain_text(text, 300), "style": "primary"}
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


def actions(block_id: str, elements: list[Element]) -> Block:
    return {"type": "actions", "block_id": block_id, "elements": elements}


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
