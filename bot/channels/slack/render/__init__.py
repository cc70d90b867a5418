"""Card → Block Kit. Pure.

`card_message` draws cards and thread lines, `home_blocks` draws App Home.
"""

from . import card_message
from .action_blocks import action_blocks
from .block_kit import (
    Block,
    Element,
    actions,
    button,
    context,
    divider,
    line,
    mrkdwn,
    plain_text,
    pre,
    rich_text,
    shorten,
    text_element,
)
from .buttons import button_blocks
from .home_blocks import error_blocks, list_blocks, summary, view_blocks
from .markup import context_lines, make_inert, mrkdwn_text, section
from .mentions import Names, place_names

__all__ = [
    "Block",
    "Element",
    "Names",
    "action_blocks",
    "actions",
    "button",
    "button_blocks",
    "card_message",
    "context",
    "context_lines",
    "divider",
    "error_blocks",
    "line",
    "list_blocks",
    "make_inert",
    "mrkdwn",
    "mrkdwn_text",
    "place_names",
    "plain_text",
    "pre",
    "rich_text",
    "section",
    "shorten",
    "summary",
    "text_element",
    "view_blocks",
]
