"""Prints the arguments of a call for a person at a terminal."""

from __future__ import annotations

import json
import re
from typing import Any, TextIO

from hitl_core.cli.terminal import DIM, LABEL_WIDTH, YELLOW, Paint, say, say_field
from hitl_core.json_text import indent_json

#: How much of one value is shown, at its beginning and at its end, because harmful parts are often at the
#: end.
_MAX_LINES = (10, 4)
_MAX_CHARACTERS = (300, 100)
_MAX_ARGUMENTS = 40
#: A longer name gets its own line.
_MAX_NAME = 24

_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


def say_args(
    args: dict[str, Any], *, label: str, rest: str | None, to: TextIO | None = None
) -> None:
    """Print each argument with its value. If something is cut, a line says so and names `rest`, the command
    that shows everything; with None nothing is cut.
    """
    if not args:
        say_field(label, Paint("none", DIM), indent=4, to=to)
        return
    say(Paint(f"    {label}", DIM), to=to)
    visible_args = list(args.items())[: _MAX_ARGUMENTS if rest else None]
    complete = len(visible_args) == len(args)
    names = [
        key if _PLAIN.fullmatch(key) else json.dumps(key, ensure_ascii=False)
        for key, _ in visible_args
    ]
    width = max(LABEL_WIDTH, *(len(name) for name in names if len(name) <= _MAX_NAME), 0)
    for name, (_, value) in zip(names, visible_args, strict=True):
        is_label = len(name) <= _MAX_NAME
        lines = _value_lines(value) if is_label else [f"{name}:", *_value_lines(value)]
        cut = _cut_lines(lines) if rest else lines
        label = name if is_label else ""
        say_field(label, *cut, indent=6, width=width, by_word=False, to=to)
        complete = complete and cut == lines
    if len(visible_args) < len(args):
        say(Paint(f"      … {len(args) - len(visible_args):,} more arguments …", YELLOW), to=to)
    if not complete:
        say(Paint(f"      Not everything is shown. To see all: {rest}", YELLOW), to=to)


def _value_lines(value: Any) -> list[str]:
    """The value as JSON, so that "1" and 1 look different. A text with line breaks is shown as lines with a
    bar in front, which no JSON text can imitate.
    """
    if isinstance(value, str) and "\n" in value:
        return ["│ " + line.replace("\\", "\\\\") for line in value.split("\n")]
    return indent_json(value).split("\n")


def _cut_lines(lines: list[str]) -> list[str | Paint]:
    head, tail = _MAX_LINES
    cut_lines: list[str | Paint] = [_cut_line(line) for line in lines]
    if len(lines) <= head + tail + 1:
        return cut_lines
    missing = lines[head:-tail]
    characters = sum(len(line) + 1 for line in missing)
    notice = Paint(f"… {len(missing):,} more lines, {characters:,} characters …", YELLOW)
    return [*cut_lines[:head], notice, *cut_lines[-tail:]]


def _cut_line(line: str) -> str:
    head, tail = _MAX_CHARACTERS
    missing = len(line) - head - tail
    return line if missing <= 0 else f"{line[:head]} … {missing:,} more … {line[-tail:]}"
