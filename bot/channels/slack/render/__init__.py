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
    make_inert,
    mrkdwn,
    plain_text,
    pre,
    rich_text,
    shorten,
    text_element,
)
from .home_blocks import error_blocks, list_blocks, summary, view_blocks
from .mentions import Names, join_names

__all__ = [
    "Block",
    "Element",
    "Names",
    "action_blocks",
    "actions",
    "button",
    "card_message",
    "context",
    "divider",
    "error_blocks",
    "join_names",
    "line",
    "list_blocks",
    "make_inert",
    "mrkdwn",
    "plain_text",
    "pre",
    "rich_text",
    "shorten",
    "summary",
    "text_element",
    "view_blocks",
]
