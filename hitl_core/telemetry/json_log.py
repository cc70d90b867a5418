"""Log records as JSON, one object a line."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from hitl_core.errors import safe_message
from hitl_core.model import is_review_id
from hitl_core.telemetry.review_threads import RecentThreads, recent_threads

_REVIEW_ID = re.compile(r"(?<![\w-])[0-9]{1,4}-[0-9a-f]{32}(?![\w-])")


class JsonFormatter(logging.Formatter):
    """One JSON object for each record, on one line in ASCII: `time` (UTC, ISO 8601), `level`, `logger`,
    `message`, and, if the record is about a review, the ids `review` and `thread`. `thread` is missing if
    this process has not seen the review recently.

    Of one of our own errors the message is written. Of another error only its type and the line that raised
    it are written, because its message and its traceback may contain a tool's arguments.
    """

    def __init__(self, threads: RecentThreads = recent_threads) -> None:
        super().__init__()
        self._threads = threads

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage().strip()
        if record.name.startswith("slack_bolt"):  # its other lines are advice for programmers
            message = message.partition("\n")[0]
        if record.exc_info and record.exc_info[1]:
            message = f"{message}: {safe_message(record.exc_info[1])}"
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": message,
        }
        if review_id := next(_review_ids(record, message), None):
            line["review"] = review_id
            if thread_id := self._threads.find(review_id):
                line["thread"] = thread_id
        return json.dumps(line)


def _review_ids(record: logging.LogRecord, message: str) -> Iterator[str]:
    """The ids of reviews in a record, those among its values first."""
    values = record.args if isinstance(record.args, tuple) else ()
    yield from (value for value in values if isinstance(value, str) and is_review_id(value))
    yield from _REVIEW_ID.findall(message)
