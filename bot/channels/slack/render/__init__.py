"""Card → Block Kit. Pure.

`card_message` draws cards, `line_blocks` thread lines, `home_blocks` App Home.
"""

from . import card_message
from .action_ids import has_id
from .block_kit import (
    Block,
    Element,
    Names,
    actions,
    button,
    button_blocks,
    context,
    divider,
    input_block,
    line,
    mrkdwn,
    numbered_options,
    place_names,
    plain_text,
    pre,
    rich_text,
    shorten,
    text_element,
)
from .card_message import action_blocks
from .home_blocks import error_blocks, list_blocks, summary, view_blocks
from .line_blocks import thread_message
from .markup import box, context_lines, mrkdwn_text, plain_message, section, sections

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
    "context",
    "context_lines",
    "divider",
    "error_blocks",
    "has_id",
    "input_block",
    "line",
    "list_blocks",
    "mrkdwn",
    "mrkdwn_text",
    "numbered_options",
    "place_names",
    "plain_message",
    "plain_text",
    "pre",
    "rich_text",
    "section",
    "sections",
    "shorten",
    "summary",
    "text_element",
    "thread_message",
    "view_blocks",
]
