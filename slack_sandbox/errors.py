"""The errors of the Web API, with Slack's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SlackError(Exception):
    """A Web API answer with `"ok": false`: `error` is Slack's short name of the error."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.answer: dict[str, Any] = {"ok": False, "error": error, **more}


def error_with_problems(error: str, problems: Sequence[str]) -> SlackError:
    """An error that lists what is wrong and where, in Slack's format:
    `must be less than 3001 characters [json-pointer:/blocks/0/text/text]`."""
    messages = [f"[ERROR] {problem}" for problem in problems]
    return SlackError(error, errors=list(problems), response_metadata={"messages": messages})
