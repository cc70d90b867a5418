"""Pieces of Block Kit. Whatever an agent wrote goes through `words` and `pre`, where nothing comes alive:
rich_text and plain_text know no mentions, links or formatting (docs.slack.dev/reference/block-kit).
"""

from __future__ import annotations

from typing import Any

Block = dict[str, Any]
Element = dict[str, Any]


def plain(text: str, limit: int = 3000) -> Element:
    """`emoji: false`, or `:smile:` in an argument would be drawn as a picture."""
    return {"type": "plain_text", "text": shortened(text, limit) or " ", "emoji": False}


def words(text: str, *, bold: bool = False, italic: bool = False, strike: bool = False) -> Element:
    style = {"bold": bold, "italic": italic, "strike": strike}
    on = {name: True for name, is_on in style.items() if is_on}
    return {"type": "text", "text": text or " ", **({"style": on} if on else {})}


def person(user_id: str) -> Element:
    return {"type": "user", "user_id": user_id}


def line(*elements: Element) -> Element:
    return {"type": "rich_text_section", "elements": list(elements)}


def pre(text: str) -> Element:
    return {"type": "rich_text_preformatted", "border": 0, "elements": [words(text)]}


def rich_text(block_id: str, *elements: Element) -> Block:
    return {"type": "rich_text", "block_id": block_id, "elements": list(elements)}


def context(block_id: str, text: str) -> Block:
    """`text` is mrkdwn: our own words only, with `escaped` around everything else."""
    element = {"type": "mrkdwn", "text": shortened(text, 3000), "verbatim": True}
    return {"type": "context", "block_id": block_id, "elements": [element]}


def header(block_id: str, text: str) -> Block:
    return {"type": "header", "block_id": block_id, "text": plain(text, 150)}


def divider(block_id: str) -> Block:
    return {"type": "divider", "block_id": block_id}


def button(
    action_id: str, text: str, value: str, label: str, *, style: str | None = None
) -> Element:
    """`label` is what a screen reader says."""
    drawn: Element = {
        "type": "button",
        "action_id": action_id,
        "text": plain(text, 75),
        "value": value,
        "accessibility_label": shortened(label, 75),
    }
    return {**drawn, "style": style} if style else drawn


def overflow(action_id: str, options: list[tuple[str, str]]) -> Element:
    """`options`: what it says, and the value that comes back."""
    drawn = [{"text": plain(text, 75), "value": value} for text, value in options]
    return {"type": "overflow", "action_id": action_id, "options": drawn}


def actions(block_id: str, elements: list[Element]) -> Block:
    return {"type": "actions", "block_id": block_id, "elements": elements}


def escaped(text: str) -> str:
    """For mrkdwn and for `text` fields: the three characters that Slack gives a meaning
    (docs.slack.dev/messaging/formatting-message-text#escaping), and those that would format."""
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(char, entity)
    return text


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
