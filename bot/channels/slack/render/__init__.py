"""Card → Block Kit. Pure.

`card_message` draws cards, `line_blocks` thread lines, `home_blocks` App Home.
"""

from . import card_message
from .block_kit import (
    Block,
    Element,
    actions,
    button,
    button_blocks,
    divider,
    has_id,
    plain_text,
    plain_texts,
    pre,
    rich_text,
)
from .card_message import action_blocks
from .home_blocks import error_blocks, list_blocks, summary, view_blocks
from .line_blocks import thread_message
from .markup import box, context_lines, mrkdwn_text, plain_lines, plain_message, section, sections
from .mentions import Names, place_names

__all__ = [
    "Block",
    "Element",
    "Names",
    "action_blocks",
    "actions",
    "box",
    "button",
    "button_blocks",
    "card_message",
    "context_lines",
    "divider",
    "error_blocks",
    "has_id",
    "list_blocks",
    "mrkdwn_text",
    "place_names",
    "plain_lines",
    "plain_message",
    "plain_text",
    "plain_texts",
    "pre",
    "rich_text",
    "section",
    "sections",
    "summary",
    "thread_message",
    "view_blocks",
]
