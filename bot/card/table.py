"""Many actions as one table: a row for each, and above it what all of them have in common. Pure.

A phone shows only few columns: the number, the argument that names the call, what changes, what differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..text import weight
from .arguments import MAX_CELL, common_values, group_by_tool
from .model import (
    ActionLine,
    ActionTable,
    CallValue,
    Emphasis,
    Line,
    Quote,
    Span,
    Strong,
    TableRow,
    Text,
    Verbatim,
    as_part,
    fit_parts,
    join_lines,
    plain_text,
)
from .people import vote_counts
from .sentences import ordinal
from .warnings import odd_values

#: The most rows below the head, and the most weight of the table with the lines above it: every channel can
#: show this.
MAX_ROWS = 99
MAX_WEIGHT = 6_000
#: The most columns of arguments. All other arguments share one column.
MAX_COLUMNS = 3
_NUMBER, _TOOL, _ARGUMENTS, _DIFFERS = "#", "Tool", "Arguments", "Differs"
_BETWEEN = "  ·  "
Path = tuple[str, ...]


@dataclass(frozen=True)
class _Plan:
    """`common`: by tool, the arguments that are equal in all its calls. Each of `columns` (label by path) is
    a column. All other arguments are in the last column, with the title `rest`.
    """

    common: dict[str, tuple[CallValue, ...]]
    columns: dict[Path, str]
    rest: str
    has_tool: bool


def make_table(actions: Sequence[ActionLine]) -> ActionTable:
    """As many actions as fit."""
    plan = _plan(actions)
    common = tuple(
        _common_line(name, values, len(group) if plan.has_tool else 0)
        for name, group in group_by_tool(actions).items()
        if (values := plan.common.get(name))
    )
    rows = [_row(action, plan) for action in actions[:MAX_ROWS]]
    room = MAX_WEIGHT - sum(weight(plain_text(line)) for line in common)
    shown: list[TableRow] = []
    for row in rows:
        room -= sum(weight(plain_text(cell)) for cell in row.cells)
        if room < 0:
            break
        shown.append(row)
    whole = {row.key for row in shown if row.is_whole}
    rest = plan.rest if any(row.cells[-1] for row in shown) else ""
    head = (
        _NUMBER,
        *((_TOOL,) if plan.has_tool else ()),
        *plan.columns.values(),
        *((rest,) if rest else ()),
    )
    return ActionTable(
        common,
        head,
        tuple(TableRow(row.key, row.cells[: len(head)], row.is_whole) for row in shown),
        len(actions) - len(shown),
        frozenset(action.key for action in actions if action.key not in whole),
    )


def _plan(actions: Sequence[ActionLine]) -> _Plan:
    groups = group_by_tool(actions)
    common = {
        name: common_values([call.values or () for call in group])
        for name, group in groups.items()
        if len(group) > 1
    }
    values = [action.values for action in actions]
    if len(groups) > 1 or None in values:
        return _Plan(common, {}, _ARGUMENTS, len(groups) > 1)
    [(name, group)] = groups.items()
    same = {value.path for value in common.get(name, ())}
    counts = Counter(value.path for each in values for value in each or ())
    labels = {value.path: value.label for each in values for value in each or ()}
    # What only a few calls have is not a column, because people easily overlook it there.
    columns = {
        path: labels[path]
        for path, count in counts.items()
        if path not in same and 2 * count > len(group)
    }
    if len(columns) > MAX_COLUMNS:
        first = next(iter(columns))
        return _Plan(common, {first: columns[first]}, _ARGUMENTS, False)
    return _Plan(common, columns, _DIFFERS, False)


def _common_line(name: str, values: Sequence[CallValue], count: int) -> Line:
    """`count`: of how many calls, if there are other tools too."""
    times = f" ×{count}" if count else ""  # noqa: RUF001
    named = [(Verbatim(f"{as_part(value.label)}: "), Quote(value.text)) for value in values]
    return (
        Text("The same in all "),
        Strong(f"{name}{times}"),
        Text(": "),
        *join_lines(named, most=99),
    )


def _row(action: ActionLine, plan: _Plan) -> TableRow:
    """The row. If nothing is in its last cell, the cell is empty."""
    cells: list[Line] = [(Text(str(action.number)),)]
    if plan.has_tool:
        cells.append((Verbatim(action.name),))
    if action.values is None:
        marks = _marks(action)
        return TableRow(
            action.key,
            (*cells, _join([(Verbatim(fit_parts(action.fact, MAX_CELL)),), *marks])),
            False,
        )
    by_path = {value.path: value for value in action.values}
    common = {value.path for value in plan.common.get(action.name, ())}
    for path in plan.columns:
        value = by_path.get(path)
        cells.append((Verbatim(value.text),) if value else (Emphasis("not set"),))
    rest: list[Line] = [
        (Strong(f"{value.label}: "), Verbatim(as_part(value.text)))
        for value in action.values
        if value.path not in common and value.path not in plan.columns
    ]
    is_whole = all(value.is_whole for value in action.values)
    return TableRow(action.key, (*cells, _join([*rest, *_marks(action)])), is_whole)


def _marks(action: ActionLine) -> list[Line]:
    """What people must know about an action, beside its arguments."""
    marks: list[Span] = []
    if action.odd_values:
        marks.append(Strong(f"⚠ {odd_values(action.odd_values)}"))
    if action.attempt > 1:
        marks.append(Emphasis(ordinal(action.attempt)))
    if action.progress is not None:
        marks.append(Emphasis(vote_counts(action.progress)))
    return [(mark,) for mark in marks]


def _join(lines: Sequence[Line]) -> Line:
    spans: list[Span] = []
    for line in lines:
        spans += [Text(_BETWEEN), *line] if spans else line
    return tuple(spans)
