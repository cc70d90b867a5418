"""Named points at which tests can crash or delay the process. Off unless HITL_FAILPOINTS sets one.

    HITL_FAILPOINTS="outbox.after_card=kill;gate.after_once=pause:/tmp/go"

`kill` ends the process like kill -9, `raise` raises FailpointError, `sleep:MS` waits, `pause:FILE`
waits until the file exists. A failpoint acts every time the code reaches it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from functools import cache
from pathlib import Path

ENV_VARIABLE = "HITL_FAILPOINTS"


class FailpointError(Exception):
    """Raised by `raise`. It is not a HitlError, so that no code handles it by accident."""


async def failpoint(name: str) -> None:
    """Does nothing, at the cost of reading a variable, when no failpoint is set."""
    if (act := _parse_failpoints(os.environ.get(ENV_VARIABLE, "")).get(name)) is None:
        return
    verb, _, value = act.partition(":")
    match verb:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise FailpointError(name)
        case "sleep":
            await asyncio.sleep(int(value) / 1000)
        case "pause":
            while not Path(value).exists():  # noqa: ASYNC110, ASYNC240 - another process makes the file
                await asyncio.sleep(0.01)
        case _:
            raise FailpointError(
                f"{ENV_VARIABLE} has {act!r}: use kill, raise, sleep:MS or pause:FILE."
            )


@cache
def _parse_failpoints(spec: str) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in spec.split(";") if entry.strip())
    return {name.strip(): act.strip() for name, _, act in pairs}
