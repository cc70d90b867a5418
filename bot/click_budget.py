"""The time limits for each step of a click. Slack shows its own error 3 s after a click, so all steps of a
click together must take less: `CLICKS` lists them, and a test adds them up.
"""

from __future__ import annotations

import asyncio
import time
from contextvars import ContextVar
from typing import Literal

#: Slack wants the answer within this time, in seconds
#: (docs.slack.dev/interactivity/handling-user-interaction).
CLICK_SECONDS = 3.0

Step = Literal[
    "name",
    "apply",
    "record",
    "show",
    "open",
    "page",
    "file",
    "submit",
    "next",
    "home",
    "home_error",
    "load",
    "lookup",
    "post_record",
    "loading_view",
    "respond",
]

#: In seconds, for a click of 3 s.
SECONDS: dict[Step, float] = {
    # Steps that follow one another.
    "name": 0.3,  # looking up the person who clicked
    "apply": 1.5,  # permission, checks, commit
    "record": 0.2,  # recording a refusal in the audit, and queueing an old card
    "show": 0.8,  # the result: a sentence, a modal, the Home
    "open": 2.1,  # a modal: it is loaded and opened
    "page": 1.6,  # another page of a modal: it is loaded and shown
    "file": 1.6,  # all arguments as a file
    "submit": 2.0,  # a form: it is read, checked and applied
    "next": 0.4,  # the next page of the Review modal below a form
    "home": 2.2,  # the Home or the answer to a command
    "home_error": 0.5,
    # Parts of the steps above.
    "load": 1.5,
    "lookup": 0.8,  # one look-up of who may decide
    "post_record": 0.5,  # until a message that is already shown is recorded
    "loading_view": 0.5,  # until a modal without content opens, because its trigger expires
    "respond": 0.4,  # one message to the person
}

#: The steps of each kind of click, one after the other.
CLICKS: dict[str, tuple[Step, ...]] = {
    "a button that decides": ("name", "apply", "record", "show"),
    "a button that opens a modal": ("name", "open", "respond"),
    "a button that shows a page": ("name", "page", "show"),
    "a button that posts a file": ("name", "file", "show"),
    "a form": ("name", "submit", "next"),
    "the Home, and /approvals": ("home", "home_error"),
}

#: The last moment for the answer. The time on the network, to the bot and back, is not included.
ANSWER_SECONDS = 2.9

_factor = 1.0
_deadline: ContextVar[float | None] = ContextVar("click_deadline", default=None)


def set_click_seconds(seconds: float) -> None:
    """Scale all steps to this total, for the whole process."""
    global _factor  # noqa: PLW0603 - one bot in a process, and many packages have steps
    _factor = seconds / CLICK_SECONDS


def seconds(step: Step) -> float:
    return SECONDS[step] * _factor


def is_over(step: Step, since: float) -> bool:
    """Whether this step has used up its time since `since` (a `time.monotonic`)."""
    return time.monotonic() - since > seconds(step)


def start() -> None:
    """Start the time of a click. No step of it lasts longer than the whole click."""
    _deadline.set(asyncio.get_running_loop().time() + ANSWER_SECONDS * _factor)


def timeout(step: Step) -> asyncio.Timeout:
    end = asyncio.get_running_loop().time() + seconds(step)
    deadline = _deadline.get()
    return asyncio.timeout_at(end if deadline is None else min(end, deadline))
