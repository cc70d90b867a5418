"""Faults for tests: the next calls of an operation fail in a chosen way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

#: What happens to a call. `limited`: 429 with Retry-After. `conflict`: 412. `down`: 503. `refused`: 400 with
#: a code that Microsoft doesn't document. `dropped`: the connection ends before it is done. `lost`: it is
#: done, but the connection ends without an answer. `unreadable`: it is done, and the answer is not JSON.
#: `no_id`: it is done, and the answer is {}. `hang`: no answer until the sandbox ends. `late`: it is done
#: when released. `late_answer`: it is done, and answered when released. `answer`: this status and body.
FaultMode = Literal[
    "limited",
    "conflict",
    "down",
    "refused",
    "dropped",
    "lost",
    "unreadable",
    "no_id",
    "hang",
    "late",
    "late_answer",
    "answer",
]


@dataclass
class Fault:
    """`operation` None: every operation. `times` None: until it is cleared. `conversation` None: in all."""

    mode: FaultMode
    operation: str | None = None
    times: int | None = None
    conversation: str | None = None
    retry_after: int | None = 1
    status: int = 500
    body: str = ""
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def release(self) -> None:
        self.released.set()


class Faults:
    """The operations are those in `OPERATIONS` of the Connector and of Graph, and "token" and "upload"."""

    def __init__(self) -> None:
        self._active: list[Fault] = []

    def add(
        self,
        mode: FaultMode,
        operation: str | None = None,
        *,
        times: int | None = None,
        conversation: str | None = None,
        retry_after: int | None = 1,
        status: int = 500,
        body: str = "",
    ) -> Fault:
        fault = Fault(mode, operation, times, conversation, retry_after, status, body)
        self._active.append(fault)
        return fault

    def clear(self, operation: str | None = None) -> None:
        """Ends all faults, or those of one operation."""
        self._drop(lambda one: operation in (None, one.operation))

    def next_fault(self, operation: str, conversation: str = "") -> Fault | None:
        """The fault for this call, if any; it counts as one of its `times`."""
        for fault in self._active:
            fits = fault.conversation is None or conversation.startswith(fault.conversation)
            if fault.operation in (None, operation) and fits:
                if fault.times is not None:
                    fault.times -= 1
                    self._drop(lambda one: one.times is not None and one.times <= 0)
                return fault
        return None

    def _drop(self, ends: Callable[[Fault], bool]) -> None:
        self._active = [one for one in self._active if not ends(one)]


async def fault_response(request: web.Request, fault: Fault) -> web.StreamResponse:
    """The answer to a call that fails before anything is done."""
    match fault.mode:
        case "limited":
            seconds = fault.retry_after
            headers = {} if seconds is None else {"Retry-After": str(seconds)}
            error = {"code": "Throttled", "message": "Too many requests."}
            return web.json_response({"error": error}, status=429, headers=headers)
        case "conflict":
            error = {
                "code": "PreconditionFailed",
                "message": "Precondition failed, please try again.",
            }
            return web.json_response({"error": error}, status=412)
        case "down":
            return web.Response(status=503, text="Service Unavailable")
        case "refused":
            error = {"code": "SomeNewError", "message": "Something that no documentation names."}
            return web.json_response({"error": error}, status=400)
        case "answer":
            return web.Response(
                status=fault.status, text=fault.body, content_type="application/json"
            )
        case "unreadable":
            return unreadable_response()
        case _:
            return drop_connection(request)


def unreadable_response() -> web.Response:
    return web.Response(text="<html>A proxy was here</html>", content_type="text/html")


def drop_connection(request: web.Request) -> web.StreamResponse:
    """Ends the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
