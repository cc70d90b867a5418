"""Checks blocks, views and inputs as strictly as Slack does."""

from .blocks import complete_blocks, elements_of, problems, text_length
from .clicks import UserError, read_click
from .elements import options_of, with_defaults
from .input_errors import client_errors, input_ids
from .states import STATE_KEYS, fill_state, initial_state

__all__ = [
    "STATE_KEYS",
    "UserError",
    "client_errors",
    "complete_blocks",
    "elements_of",
    "fill_state",
    "initial_state",
    "input_ids",
    "options_of",
    "problems",
    "read_click",
    "text_length",
    "with_defaults",
]
