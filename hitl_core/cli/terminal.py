"""Output of the commands: with colours on a terminal only, and never with control characters."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TextIO

from hitl_core.policy import InvalidPolicy

GREEN, YELLOW, RED, DIM, BOLD = "32", "33", "31", "2", "1"

#: The columns of the labels before the fields of a review or a call. A list with longer names has more.
LABEL_WIDTH = 9
#: The columns before the second line of a sentence.
_INDENT = 2

#: Characters that Python calls printable, but that a terminal shows as nothing.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U00013441\U00013442"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


class Paint(NamedTuple):
    """Text in a colour."""

    text: str
    colour: str


def say(*parts: str | Paint, to: TextIO | None = None) -> None:
    """Print one line on standard output, or on another stream."""
    stream = to or sys.stdout
    coloured = stream.isatty() and not os.environ.get("NO_COLOR")
    line = ""
    for part in parts:
        text, colour = (part, "") if isinstance(part, str) else part
        line += f"\x1b[{colour}m{clean(text)}\x1b[0m" if colour and coloured else clean(text)
    print(line, file=stream)


def say_field(
    label: str,
    *lines: str | Paint,
    indent: int = 2,
    width: int = LABEL_WIDTH,
    by_word: bool = True,
    to: TextIO | None = None,
) -> None:
    """Print a label, in a column of this width, and its lines. Long lines are wrapped inside their column: a
    terminal would wrap them to its left edge, where a part of the text could look like another label.
    """
    stream = to or sys.stdout
    left = f"{'':{indent}}{label:<{width}}  "
    room = max(20, terminal_width(stream) - len(left)) if stream.isatty() else None
    for line in lines:
        text, colour = (line, "") if isinstance(line, str) else line
        for piece in [text] if room is None else wrap_text(clean(text), room, by_word):
            say(Paint(left, DIM), Paint(piece, colour), to=stream)
            left = " " * len(left)


def say_json(value: Any) -> None:
    """Print JSON in ASCII, so that it can't contain control codes for the terminal."""
    print(_json(value, indent=2))


def say_json_array(values: Iterable[Any]) -> None:
    """Print one array, one value on each line, each as soon as it is there."""
    before = "["
    for value in values:
        print(f"{before}\n{_json(value)}", end="")
        before = ","
    print("[]" if before == "[" else "\n]")


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent).replace("\x7f", "\\u007f")


def say_problems(error: InvalidPolicy, *, to: TextIO | None = None) -> int:
    """Print each problem on its own line. Returns the exit code 1."""
    for problem in error.problems:
        where, path, message = problem.where, problem.path, problem.message
        before = (Paint(f"{where}: ", DIM), Paint(f"{path}: " if path else "", YELLOW))
        say_sentence(*before, message, to=to or sys.stdout)
    return 1


def open_closed_streams() -> None:
    """A stream that the shell closed (`hitl … >&-`) is None in Python: open one that takes everything, or is
    empty.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def escape_unknown_characters() -> None:
    """Print what the output's encoding doesn't have (Latin-1, or a file on Windows) as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Drop what standard output doesn't take: Python would fail again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(sentence: str) -> None:
    """Print a note for the person, on standard error."""
    say_sentence(sentence, to=sys.stderr)


def complain(sentence: str) -> int:
    """Print what is wrong with the command. Returns the exit code 2."""
    say_sentence(Paint("hitl: ", RED), sentence, to=sys.stderr)
    return 2


def say_sentence(*parts: str | Paint, to: TextIO) -> None:
    """Print one line. A terminal would break it within words, so it gets lines that end between them."""
    *before, last = parts
    text, colour = (last, "") if isinstance(last, str) else last
    if not to.isatty():
        say(*parts, to=to)
        return
    start = "".join(clean(one if isinstance(one, str) else one.text) for one in before)
    # The first line has no indent, but what is before the sentence: here one word takes its place.
    word = f"{'x' * (display_width(start) - _INDENT - 1)} " if start else ""
    room = max(20, terminal_width(to) - _INDENT)
    first, *more = wrap_text(word + clean(text), room, True)
    say(*before, Paint(first[len(word) :], colour), to=to)
    for line in more:
        say(" " * _INDENT, Paint(line, colour), to=to)


def confirm(question: str) -> bool:
    """Whether the person at the terminal types yes; any other input is no."""
    print(f"{clean(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def is_interactive() -> bool:
    """Whether a person can see a question and answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def terminal_width(stream: TextIO) -> int:
    """COLUMNS, else the terminal's width, else 80."""
    if columns := os.environ.get("COLUMNS", ""):
        return int(columns) if columns.isdecimal() and int(columns) > 0 else 80
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns


def clean(text: str) -> str:
    """The text with escapes for invisible characters: text from outside must not control the terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _is_visible(c) else c.encode("unicode_escape").decode() for c in text)


def display_width(text: str) -> int:
    """How many columns a text takes: ideographs take two, combining marks none."""
    return sum(map(_char_width, text))


def shorten(text: str, room: int) -> str:
    """The text, cut with an ellipsis if it is wider than `room` columns."""
    if display_width(text) <= room:
        return text
    return wrap_text(text, room - 1, False)[0] + "…"


def wrap_text(text: str, room: int, by_word: bool) -> Sequence[str]:
    """Lines of at most `room` columns. With `by_word` they break at a space, if that leaves at least half of
    the line full. The space is dropped, so don't use it for text that must be exact.
    """
    lines, line, used = list[str](), "", 0
    for char in text:
        if used + _char_width(char) > room and line:
            head, gap, tail = (line + char).rpartition(" ")
            if by_word and gap and len(head) > len(line) // 2:
                lines.append(head)
                line, used = tail, display_width(tail)
                continue
            lines.append(line)
            line, used = "", 0
        line, used = line + char, used + _char_width(char)
    return [*lines, line]


def _is_visible(char: str) -> bool:
    """Whether a reader sees the character, and it doesn't strike through or enclose other characters."""
    return (
        char.isprintable()
        and not _BLANK.match(char)
        and unicodedata.category(char) != "Me"
        and unicodedata.combining(char) != 1
    )


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.category(char) == "Mn":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
