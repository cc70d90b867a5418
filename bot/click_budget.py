"""How long the steps of a click may take. Slack shows an error of its own 3 s after a click, so the steps of
each kind of click together must take less.
"""

from __future__ import annotations

import asyncio

#: Seconds in which Slack wants the answer (docs.slack.dev/interactivity/handling-user-interaction).
CLICK_SECONDS = 3.0

_factor = 1.0


def set_click_seconds(seconds: float) -> None:
    """What waits for the bot, waits this long: every step may take its part of it. For this process."""
    global _factor  # noqa: PLW0603 - one bot a process, and its steps are in many rooms
    _factor = seconds / CLICK_SECONDS


def scale(seconds: float) -> float:
    """What this step may take, of a click that may take 3 s."""
    return seconds * _factor


def timeout(seconds: float) -> asyncio.Timeout:
    return asyncio.timeout(scale(seconds))
