"""Arguments as people read them: complete, as an excerpt, or as one line. Pure.

`masking` puts marks in place of hidden values, `rows` makes one row for each value, with its label and style,
and `value_text` writes the value. `excerpt` cuts them to the room that a card has.
"""

from .excerpt import MAX_CALL, all_arguments, arguments_excerpt, list_arguments, main_fact
from .masking import (
    HIDDEN_MARK,
    PLACEHOLDER,
    MaskedArgs,
    hide,
    keys_in_order,
    mark_hidden,
    mask,
    mask_action,
    schema_properties,
)
from .rows import (
    MAX_INLINE,
    MAX_LABEL,
    PATH_SEPARATOR,
    argument_label,
    argument_rows,
    choose_style,
    cut_label,
)
from .value_text import amount_text, format_value

__all__ = [
    "HIDDEN_MARK",
    "MAX_CALL",
    "MAX_INLINE",
    "MAX_LABEL",
    "PATH_SEPARATOR",
    "PLACEHOLDER",
    "MaskedArgs",
    "all_arguments",
    "amount_text",
    "argument_label",
    "argument_rows",
    "arguments_excerpt",
    "choose_style",
    "cut_label",
    "format_value",
    "hide",
    "keys_in_order",
    "list_arguments",
    "main_fact",
    "mark_hidden",
    "mask",
    "mask_action",
    "schema_properties",
]
