"""Faults that a test orders: the next calls of a method fail in a chosen way."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from bot.sandbox.shapes import Json

Mode = Literal[
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
class Trouble:
    """`method` None means every method, `times` None until mode "ok" is ordered. Mode "answer" answers with
    this status and body. A `late` call is applied, and of a `late_answer` the answer sent, when `release` is
    called: a client that gave up doesn't stop it, as with the original.
    """

    mode: Mode
    method: str | None = None
    times: int | None = None
    retry_after: int = 1
    status: int = 200
    body: str = ""
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def release(self) -> None:
        self.released.set()


class Troubles:
    def __init__(self) -> None:
        self._waiting: list[Trouble] = []

    def order(self, wish: Json) -> Trouble | None:
        """Takes `{"mode", "method"?, "times"?, "retry_after"?, "status"?, "body"?}`; mode "ok" ends
        all trouble, or that of one method. Raises ValueError."""
        mode, method = wish.get("mode"), wish.get("method")
        if mode not in get_args(Mode):
            raise ValueError(f"mode must be one of {', '.join(get_args(Mode))}, not {mode!r}")
        if mode == "ok":
            self._waiting = [t for t in self._waiting if method and t.method != method]
            return None
        trouble = Trouble(
            cast(Mode, mode),
            method,
            wish.get("times"),
            wish.get("retry_after", 1),
            wish.get("status", 200),
            wish.get("body", ""),
        )
        self._waiting.append(trouble)
        return trouble

    def strike(self, method: str) -> Trouble | None:
        """The trouble that this call runs into, which counts as one of its times."""
        for trouble in self._waiting:
            if trouble.method in (None, method):
                if trouble.times is not None:
                    trouble.times -= 1
                    if trouble.times <= 0:
                        self._waiting.remove(trouble)
                return trouble
        return None
