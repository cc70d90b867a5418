"""Arguments as people read them: complete, as an excerpt, or as one line. Pure.

`masking` puts marks in place of hidden values. `rows` makes one row for each value, and the main fact of a
call. `value_text` writes a value and decides its style. `excerpt` cuts values to the space of a card. `alike`
compares calls of one tool.
"""

from .alike import (
    MAX_CELL,
    MAX_COMPARED,
    MAX_QUESTION,
    MIN_ALIKE,
    call_values,
    common_values,
    differences,
    group_by_tool,
    group_differences,
    join_numbers,
)
from .excerpt import MAX_CALL, arguments_excerpt, cut_label, list_arguments
from .masking import (
    HIDDEN_MARK,
    PLACEHOLDER,
    MaskedArgs,
    hide,
    keys_in_order,
    mark_hidden,
    mask,
    mask_action,
)
from .rows import MAX_LABEL, PATH_SEPARATOR, argument_label, argument_rows, main_fact, shorten_fact
from .value_text import MAX_INLINE, amount_text, format_value, has_own_lines

__all__ = [
    "HIDDEN_MARK",
    "MAX_CALL",
    "MAX_CELL",
    "MAX_COMPARED",
    "MAX_INLINE",
    "MAX_LABEL",
    "MAX_QUESTION",
    "MIN_ALIKE",
    "PATH_SEPARATOR",
    "PLACEHOLDER",
    "MaskedArgs",
    "amount_text",
    "argument_label",
    "argument_rows",
    "arguments_excerpt",
    "call_values",
    "common_values",
    "cut_label",
    "differences",
    "format_value",
    "group_by_tool",
    "group_differences",
    "has_own_lines",
    "hide",
    "join_numbers",
    "keys_in_order",
    "list_arguments",
    "main_fact",
    "mark_hidden",
    "mask",
    "mask_action",
    "shorten_fact",
]
