"""The log: one line for each thing, and only so many of what anybody may cause."""

from __future__ import annotations

import logging
import math
import time

from hitl_core.errors import safe_message

#: What strangers cause is written this often, in seconds, with how many there were.
INTERVAL = 60.0


class OneLineFormatter(logging.Formatter):
    """A line has no line breaks and no control characters, whatever it quotes. An error is its sentence, or
    its type and where it was raised: what stands in a traceback may be an argument of a tool.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        if record.name.startswith(
            "slack_bolt"
        ):  # its advice for programmers follows on other lines
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


class ThrottledLog:
    """`warn` writes a line at once, then one a minute, with how many there were since the last. The text has
    a %d for that number.
    """

    def __init__(self, log: logging.Logger, text: str) -> None:
        self._log, self._text = log, text
        self._last, self._count = -math.inf, 0

    def warn(self, *args: object) -> None:
        """`args` are for what else the text holds, of the newest one."""
        self._count += 1
        if time.monotonic() - self._last >= INTERVAL:
            self._log.warning(self._text, self._count, *args)
            self._last, self._count = time.monotonic(), 0


def _escape_char(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
