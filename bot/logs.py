"""Logging: one line for each record, and a limit for lines that unauthenticated requests cause."""

from __future__ import annotations

import logging
import math
import time
import traceback
from pathlib import PurePath

from hitl_core.errors import HitlError, safe_message

#: The shortest time between two lines that unauthenticated requests cause, in seconds. Each line has their
#: number.
INTERVAL = 60.0
#: The most lines of code in a logged trace.
MAX_FRAMES = 20


class OneLineFormatter(logging.Formatter):
    """One line without control characters for each record. An error is its message, or its type and where it
    was raised, without a traceback: that could contain a tool's arguments.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        if record.name.startswith("slack_bolt"):  # its further lines are advice for programmers
            record.message = record.message.strip().partition("\n")[0]
        if record.exc_info and record.exc_info[1]:
            record.message = f"{record.message}: {safe_message(record.exc_info[1])}"
        line = super().formatMessage(record)
        return line if line.isprintable() else "".join(map(_escape_char, line))

    def formatException(self, ei: object) -> str:
        return ""

    def formatStack(self, stack_info: str) -> str:
        return ""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).rstrip("\n")


def trace_of(error: BaseException) -> str:
    """An error with the lines of code that it passed, the newest first. As in `safe_message`, the text of a
    foreign error is left out, because it may contain a tool's arguments.
    """
    kind = type(error).__name__
    if isinstance(error, HitlError):
        kind = str(error)
    frames = reversed(traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:])
    lines = [f"{'/'.join(PurePath(one.filename).parts[-3:])}:{one.lineno}" for one in frames]
    return f"{kind} at {' < '.join(lines)}" if lines else kind


class ThrottledLog:
    """Writes the first line at once, then at most one a minute, with the number of calls since. The text has
    a %d for that number.
    """

    def __init__(self, log: logging.Logger, text: str) -> None:
        self._log, self._text = log, text
        self._last, self._count = -math.inf, 0

    def warn(self, *args: object) -> None:
        """`args`: the other values of the text, for the newest call."""
        self._count += 1
        if time.monotonic() - self._last >= INTERVAL:
            self._log.warning(self._text, self._count, *args)
            self._last, self._count = time.monotonic(), 0


def _escape_char(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
