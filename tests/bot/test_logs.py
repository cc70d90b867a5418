"""The log: one line for each event, even if the text in it has line breaks, and a limit for lines that
strangers cause.
"""

from __future__ import annotations

import io
import logging

import pytest

from bot.logs import OneLineFormatter, ThrottledLog


@pytest.fixture
def log_output() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def log(log_output: io.StringIO, request: pytest.FixtureRequest) -> logging.Logger:
    """As `python -m bot serve` writes; by a logger of the test's own."""
    handler = logging.StreamHandler(log_output)
    handler.setFormatter(OneLineFormatter("%(levelname)s %(name)s %(message)s"))
    made = logging.Logger(getattr(request, "param", "bot.test"))
    made.addHandler(handler)
    return made


@pytest.mark.parametrize(
    "text", ["a\nINFO forged", "a\r\nb", "\x1b[2J", "\u2028", "\u202e", "\ud800", "\x00\x85"]
)
def test_nothing_from_outside_breaks_a_line(
    log: logging.Logger, log_output: io.StringIO, text: str
) -> None:
    """slack-clients 8: given text from outside in a line; then it is one line, and its marks are visible."""
    log.warning("somebody said %s", text)
    [line] = log_output.getvalue().splitlines()
    assert line.startswith("WARNING bot.test somebody said ")
    assert line.isprintable()


def test_an_error_is_one_line_without_its_words(
    log: logging.Logger, log_output: io.StringIO
) -> None:
    """slack-clients 8: given an error with a traceback; then the line has its type and its place."""
    try:
        raise ValueError("secret\nsecret")
    except ValueError:
        log.exception("it failed", stack_info=True)
    [line] = log_output.getvalue().splitlines()
    assert "ValueError at " in line
    assert "secret" not in line


@pytest.mark.parametrize("log", ["slack_bolt.AsyncApp"], indirect=True)
def test_bolts_advice_is_cut(log: logging.Logger, log_output: io.StringIO) -> None:
    """slack-clients 8: given Bolt's advice of several lines; then only its first line is shown."""
    log.warning(
        "Unhandled request ({'type': 'x'})\n---\n[Suggestion] You can handle\n@app.event('x')"
    )
    [line] = log_output.getvalue().splitlines()
    assert line.endswith("Unhandled request ({'type': 'x'})")


def test_what_strangers_cause_is_counted(
    log: logging.Logger, log_output: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """slack-clients 8: given a thousand of one kind; then there is one line; the next has their number."""
    rarely = ThrottledLog(log, "%d uploads hung up; the newest: %s")
    for _ in range(1000):
        rarely.warn("broken")
    monkeypatch.setattr("bot.logs.INTERVAL", 0.0)
    rarely.warn("too_slow")
    first, second = log_output.getvalue().splitlines()
    assert first.endswith("1 uploads hung up; the newest: broken")
    assert second.endswith("1000 uploads hung up; the newest: too_slow")
