"""Arguments as people read them: complete, as an excerpt, or as one line. Pure.

`masking` puts marks in place of hidden values, `labels` writes the keys, `rows` makes one row for each value,
and `styles` decides how it is shown. `excerpt` cuts them to the room that a card has.
"""

from .excerpt import MAX_CALL, all_arguments, arguments_excerpt, list_arguments, main_fact
from .labels import MAX_LABEL, PATH_SEPARATOR, argument_label, cut_label
from .masking import (
    HIDDEN_MARK,
    MaskedArgs,
    drop_hidden,
    hide,
    keys_in_order,
    mark_hidden,
    mask,
    mask_action,
)
from .rows import argument_rows
from .styles import MAX_INLINE, amount_text, choose_style

__all__ = [
    "HIDDEN_MARK",
    "MAX_CALL",
    "MAX_INLINE",
    "MAX_LABEL",
    "PATH_SEPARATOR",
    "MaskedArgs",
    "all_arguments",
    "amount_text",
    "argument_label",
    "argument_rows",
    "arguments_excerpt",
    "choose_style",
    "cut_label",
    "drop_hidden",
    "hide",
    "keys_in_order",
    "list_arguments",
    "main_fact",
    "mark_hidden",
    "mask",
    "mask_action",
]
