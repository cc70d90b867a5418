"""Log records as JSON: one object on each line, with the ids of the review and its thread, and without
arguments.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from hitl_core.errors import StoreUnavailable
from hitl_core.telemetry import JsonFormatter, RecentThreads

REVIEW = f"0-{'ab' * 16}"


def line_of(record: logging.LogRecord, threads: RecentThreads | None = None) -> dict[str, Any]:
    text = JsonFormatter(threads or RecentThreads()).format(record)
    assert text.isascii()
    assert text.isprintable()
    return json.loads(text)


def record(text: str, *args: object, **more: Any) -> logging.LogRecord:
    return logging.LogRecord(
        "bot.test", logging.WARNING, "x.py", 1, text, args, **more or {"exc_info": None}
    )


def test_a_record_is_one_object() -> None:
    given = record("review %s: it waits", REVIEW)
    given.created = 1_800_000_000.25
    assert line_of(given) == {
        "time": "2027-01-15T08:00:00.250Z",
        "level": "WARNING",
        "logger": "bot.test",
        "message": f"review {REVIEW}: it waits",
        "review": REVIEW,
    }


@pytest.mark.parametrize("text", ["a\nb", "\x1b[2J", "\u2028", "\u202e", "\ud800", '"}', "\x00"])
def test_nothing_from_outside_breaks_a_line(text: str) -> None:
    assert line_of(record("somebody said %s.", text))["message"] == f"somebody said {text}."


def test_a_line_about_a_review_has_its_thread_too() -> None:
    """Given a review that was seen; then each line with its id also has its thread."""
    threads = RecentThreads()
    threads.add(REVIEW, "t-1")
    for given in (record("review %s: x", REVIEW), record(f"GET /v1/reviews/{REVIEW} 200")):
        assert line_of(given, threads)["thread"] == "t-1"
    assert "review" not in line_of(record("nothing"), threads)


def test_threads_take_little_room() -> None:
    threads = RecentThreads(2)
    for number in range(3):
        threads.add(str(number), "x" * 1_000_000)
    assert threads.find("0") is None
    assert len(threads.find("2") or "") == 200


def test_an_error_is_its_type_and_place() -> None:
    """T71: given a foreign error that quotes an argument, and one of ours; then only ours has its words."""
    for error, words in (
        (ValueError("s3cr3t"), "ValueError at "),
        (StoreUnavailable("away"), "away"),
    ):
        try:
            raise error
        except Exception as caught:
            raised = (type(caught), caught, caught.__traceback__)
            message = line_of(record("it failed", exc_info=raised))["message"]
        assert message.startswith(f"it failed: {words}")
        assert "s3cr3t" not in message


def test_bolts_advice_is_cut() -> None:
    given = record("Unhandled request\n---\n[Suggestion] {'text': 'x'}")
    given.name = "slack_bolt.AsyncApp"
    assert line_of(given)["message"] == "Unhandled request"
