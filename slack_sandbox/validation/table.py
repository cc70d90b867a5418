"""The limits of `table` blocks.

https://docs.slack.dev/reference/block-kit/blocks/table-block
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..json_checks import (
    Check,
    Json,
    array,
    boolean,
    by_type,
    check_then,
    choice,
    fields,
    is_list,
    is_object,
    problem,
    string,
)
from .rich_text import RICH_TEXT

MAX_ROWS, MAX_COLUMNS = 100, 20
#: In all cells of all tables of a message.
MAX_TEXT = 10_000

_CELL = by_type({"raw_text": fields({"text": string(MAX_TEXT)}), "rich_text": RICH_TEXT})
_SETTING = fields({}, {"align": choice("left", "center", "right"), "is_wrapped": boolean})


def _row_problems(table: Json, at: str) -> Iterator[str]:
    """Refuses rows of different lengths and settings without a column. This is stricter than Slack's
    documentation.
    """
    widths = {len(row) for row in table["rows"]}
    if len(widths) > 1:
        yield problem("all rows must have the same number of cells", f"{at}/rows")
    if len(table.get("column_settings", ())) > max(widths):
        yield problem("more `column_settings` than columns", f"{at}/column_settings")


TABLE: Check = check_then(
    fields(
        {"rows": array(array(_CELL, 1, MAX_COLUMNS), 1, MAX_ROWS)},
        {"block_id": string(255), "column_settings": array(_SETTING, 0, MAX_COLUMNS)},
    ),
    _row_problems,
)


def table_problems(blocks: Sequence[Json], at: str) -> Iterator[str]:
    """The problems of all tables of a message taken together."""
    tables = [index for index, block in enumerate(blocks) if block.get("type") == "table"]
    for index in tables[1:]:
        yield problem("only_one_table_allowed", f"{at}/{index}")
    if tables and sum(_text_length(blocks[index].get("rows")) for index in tables) > MAX_TEXT:
        yield problem(
            f"no more than {MAX_TEXT} characters allowed in all cells", f"{at}/{tables[0]}/rows"
        )


def _text_length(value: object) -> int:
    if is_list(value):
        return sum(map(_text_length, value))
    if is_object(value):
        return sum(
            len(one) if key == "text" and isinstance(one, str) else _text_length(one)
            for key, one in value.items()
        )
    return 0
