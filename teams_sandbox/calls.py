"""A call of the Connector or of Graph: injected faults, errors as answers, a record of all calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from .errors import TeamsError
from .faults import Fault, Faults, drop_connection, fault_response, unreadable_response
from .json_checks import Json, is_object

#: Executes the call, and returns the answer and its status. Raises TeamsError.
Run = Callable[[Json], Awaitable[tuple[Any, int]]]


class Calls:
    """`record` lists all calls: operation, at, path, query, body, status, error (None, its code, or the
    fault), and what the operation adds."""

    def __init__(self, faults: Faults, now: Callable[[], float]) -> None:
        self._faults, self._now = faults, now
        self.record: list[Json] = []
        self.closing = asyncio.Event()

    async def handle(
        self, request: web.Request, operation: str, run: Run, conversation: str = ""
    ) -> web.StreamResponse:
        """`conversation`: the call's conversation, for faults that apply to one conversation only."""
        await request.read()  # so that a late call is executed even if its client has given up
        call: Json = {
            "operation": operation,
            "at": self._now(),
            "path": request.path,
            "query": dict(request.query),
            "body": {},
            "status": None,
            "error": None,
        }
        self.record.append(call)
        fault = self._faults.next_fault(operation, conversation)
        if fault and fault.mode not in ("lost", "unreadable", "no_id", "late", "late_answer"):
            call["error"] = fault.mode
            if fault.mode == "hang":
                await self.closing.wait()
            return await fault_response(request, fault)
        if fault and fault.mode == "late":
            await self._wait_for_release(fault)
        try:
            answer, status = await run(call)
        except TeamsError as error:
            answer, status, call["error"] = error.body, error.status, error.code
        call["status"] = status
        return await self._respond(request, fault, answer, status)

    async def _respond(
        self, request: web.Request, fault: Fault | None, answer: Any, status: int
    ) -> web.StreamResponse:
        match fault.mode if fault else None:
            case "lost":
                return drop_connection(request)
            case "unreadable":
                return unreadable_response()
            case "no_id":
                answer = {}
            case "late_answer" if fault is not None:
                await self._wait_for_release(fault)
            case _:
                pass
        wait = answer.pop("retry_after", None) if is_object(answer) else None
        headers = {} if wait is None else {"Retry-After": str(wait)}
        if status == 201 and not answer:
            return web.Response(status=202)  # as Teams does if a message has no id
        return web.json_response(answer, status=status, headers=headers)

    async def _wait_for_release(self, fault: Fault) -> None:
        """Waits until the fault is released, or the sandbox ends."""
        waits = [asyncio.create_task(each.wait()) for each in (fault.released, self.closing)]
        _, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in left:
            wait.cancel()
