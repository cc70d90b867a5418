"""What the commands print. Colours only on a terminal, control characters never."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple, TextIO

from hitl_core.policy import InvalidPolicy

GREEN, YELLOW, RED, DIM = "32", "33", "31", "2"


class Paint(NamedTuple):
    """Text in a colour."""

    text: str
    colour: str


def say(*parts: str | Paint, to: TextIO | None = None) -> None:
    """One line on standard output, or on another stream."""
    stream = to or sys.stdout
    coloured = stream.isatty() and not os.environ.get("NO_COLOR")
    line = ""
    for part in parts:
        text, colour = (part, "") if isinstance(part, str) else part
        line += f"\x1b[{colour}m{_clean(text)}\x1b[0m" if colour and coloured else _clean(text)
    print(line, file=stream)


def say_problems(error: InvalidPolicy) -> int:
    """Every problem on a line of its own; the exit code of a command that found some."""
    for problem in error.problems:
        where, path, message = problem.where, problem.path, problem.message
        say(Paint(f"{where}: ", DIM), Paint(f"{path}: " if path else "", YELLOW), message)
    return 1


def complain(sentence: str) -> int:
    """What was wrong with the command; its exit code."""
    say(Paint("hitl: ", RED), sentence, to=sys.stderr)
    return 2


def _clean(text: str) -> str:
    """A file's text must not steer the terminal: escapes and line ends are made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
