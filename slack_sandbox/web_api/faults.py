"""Faults for tests: the next calls of a method fail in a chosen way."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from ..json_checks import Json

FaultMode = Literal[
    "ok",
    "hang",
    "late",
    "late_answer",
    "http_500",
    "ratelimited",
    "ok_but_reset",
    "invalid_blocks",
    "channel_not_found",
    "answer",
]


@dataclass
class Fault:
    """`method` None: every method. `times` None: until mode "ok". Mode "answer" answers with this status and
    body. `release` applies a `late` call and sends the answer of a `late_answer`, even if the client has
    given up, as in Slack.
    """

    mode: FaultMode
    method: str | None = None
    times: int | None = None
    retry_after: int = 1
    status: int = 200
    body: str = ""
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def release(self) -> None:
        self.released.set()


class Faults:
    def __init__(self) -> None:
        self._active: list[Fault] = []

    def configure(self, params: Json) -> Fault | None:
        """Takes `{"mode", "method"?, "times"?, "retry_after"?, "status"?, "body"?}`; mode "ok" ends
        all faults, or those of one method. Raises ValueError."""
        mode, method = params.get("mode"), params.get("method")
        if mode not in get_args(FaultMode):
            raise ValueError(f"mode must be one of {', '.join(get_args(FaultMode))}, not {mode!r}")
        if mode == "ok":
            self._active = [t for t in self._active if method and t.method != method]
            return None
        fault = Fault(
            cast(FaultMode, mode),
            method,
            params.get("times"),
            params.get("retry_after", 1),
            params.get("status", 200),
            params.get("body", ""),
        )
        self._active.append(fault)
        return fault

    def next_fault(self, method: str) -> Fault | None:
        """The fault for this call, if any; it counts as one of its `times`."""
        for fault in self._active:
            if fault.method in (None, method):
                if fault.times is not None:
                    fault.times -= 1
                    if fault.times <= 0:
                        self._active.remove(fault)
                return fault
        return None
