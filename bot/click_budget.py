"""Time limits for the steps of a click. Slack shows its own error 3 s after a click, so all steps of a click
together must take less.
"""

from __future__ import annotations

import asyncio

#: Slack wants the answer within this time, in seconds
#: (docs.slack.dev/interactivity/handling-user-interaction).
CLICK_SECONDS = 3.0

_factor = 1.0


def set_click_seconds(seconds: float) -> None:
    """Scale all steps to this total, for the whole process."""
    global _factor  # noqa: PLW0603 - one bot in a process, and many rooms have steps
    _factor = seconds / CLICK_SECONDS


def scale(seconds: float) -> float:
    """The time for a step that takes `seconds` of a 3 s click."""
    return seconds * _factor


def timeout(seconds: float) -> asyncio.Timeout:
    return asyncio.timeout(scale(seconds))
