"""The Connector over HTTP: tokens, rate limits, injected faults, a record of all calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import web

from ..errors import TeamsError, bad_request
from ..faults import (
    Fault,
    Faults,
    drop_connection,
    fault_response,
    unreadable_response,
    wait_for_release,
)
from ..json_checks import Json, is_object
from ..login import CONNECTOR, Login
from ..workspace import Workspace
from . import activities, members
from .call import Call
from .rate_limits import RateLimits, Scenario

#: The path of a service url; in Teams it is https://smba.trafficmanager.net/emea/TENANT/.
PREFIX = "/smba.trafficmanager.net/emea/{tenant}"
_CONVERSATION = f"{PREFIX}/v3/conversations/{{conversation}}"
_TEAM = f"{PREFIX}/v3/teams/{{conversation}}"

#: By operation: method and path, what it counts as for the rate limits, the status of success.
OPERATIONS: dict[str, tuple[str, str, Scenario, int, Callable[[Call], Any]]] = {
    "create": ("POST", f"{PREFIX}/v3/conversations", "create", 201, activities.create),
    "post": ("POST", f"{_CONVERSATION}/activities", "send", 201, activities.post),
    "reply": ("POST", f"{_CONVERSATION}/activities/{{item}}", "send", 201, activities.post),
    "update": ("PUT", f"{_CONVERSATION}/activities/{{item}}", "send", 200, activities.update),
    "delete": ("DELETE", f"{_CONVERSATION}/activities/{{item}}", "send", 200, activities.delete),
    "members": ("GET", f"{_CONVERSATION}/members", "members", 200, members.get_members),
    "member": ("GET", f"{_CONVERSATION}/members/{{item}}", "members", 200, members.get_member),
    "pagedmembers": (
        "GET",
        _CONVERSATION + "/{paged:(?i:pagedmembers)}",
        "members",
        200,
        members.get_paged_members,
    ),
    "team": ("GET", _TEAM, "members", 200, members.get_team),
    "channels": ("GET", f"{_TEAM}/conversations", "members", 200, members.get_channels),
}


class ConnectorApi:
    """`calls` lists all calls: operation, at, conversation, item, body, status, error (None or its code)."""

    def __init__(
        self,
        workspace: Workspace,
        login: Login,
        faults: Faults,
        limits: RateLimits | None,
        service_url: Callable[[], str],
    ) -> None:
        self._workspace, self._login, self._faults = workspace, login, faults
        self._limits, self._service_url = limits, service_url
        self.calls: list[Json] = []
        self.closing = asyncio.Event()

    def set_rate_limit(self, scale: float) -> None:
        """Limits calls from now on; with so many times the rate of the original."""
        self._limits = RateLimits(self._workspace.now, scale)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.route(method, path, partial(self._handle, operation))
            for operation, (method, path, *_) in OPERATIONS.items()
        ]

    async def _handle(self, operation: str, request: web.Request) -> web.StreamResponse:
        await request.read()  # so that a late call is also done for a client that has given up
        conversation = request.match_info.get("conversation", "")
        call: Json = {
            "operation": operation,
            "at": self._workspace.now(),
            "conversation": conversation,
            "item": request.match_info.get("item", ""),
            "body": {},
            "status": None,
            "error": None,
        }
        self.calls.append(call)
        fault = self._faults.next_fault(operation, conversation or await _channel_of(request))
        if fault and fault.mode not in ("lost", "unreadable", "no_id", "late", "late_answer"):
            call["error"] = fault.mode
            if fault.mode == "hang":
                await self.closing.wait()
            return await fault_response(request, fault)
        if fault and fault.mode == "late":
            await wait_for_release(fault, self.closing)
        try:
            answer, status = await self._run(operation, request, call), OPERATIONS[operation][3]
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
                await wait_for_release(fault, self.closing)
            case _:
                pass
        wait = answer.pop("retry_after", None) if is_object(answer) else None
        headers = {} if wait is None else {"Retry-After": str(wait)}
        if status == 201 and not answer:
            return web.Response(status=202)  # as Teams, where a message has no id
        return web.json_response(answer, status=status, headers=headers)

    async def _run(self, operation: str, request: web.Request, call: Json) -> Any:
        self._login.check(request, CONNECTOR)
        if self._workspace.app.disabled_by_admin:
            raise TeamsError(403, "BotDisabledByAdmin", "The tenant admin disabled this bot.")
        if request.match_info["tenant"].lower() != self._workspace.tenant_id:
            raise TeamsError(404, "ConversationNotFound", "Conversation not found.")
        call["body"] = body = await _read_body(request)
        _, _, scenario, _, run = OPERATIONS[operation]
        thread = call["conversation"].split(";", 1)[0] or await _channel_of(request)
        wait = self._limits.retry_after(scenario, thread) if self._limits else None
        if wait is not None:
            error = {"code": "Throttled", "message": "Too many requests."}
            raise TeamsError(429, "Throttled", "", {"error": error, "retry_after": wait})
        return run(
            Call(
                self._workspace,
                self._service_url(),
                call["conversation"],
                call["item"],
                body,
                dict(request.query),
            )
        )


async def _read_body(request: web.Request) -> Json:
    if request.method not in ("POST", "PUT"):
        return {}
    try:
        body: Any = json.loads(await request.text())
    except ValueError:
        raise bad_request("the body is no JSON") from None
    if not is_object(body):
        raise bad_request("the body must be an object")
    return body


async def _channel_of(request: web.Request) -> str:
    """The channel or the person that a new conversation is with; "" for other calls, or if it names none."""
    if request.method != "POST":
        return ""
    try:
        body = json.loads(await request.text())
        return str(
            body["channelData"]["channel"]["id"] if body["isGroup"] else body["members"][0]["id"]
        )
    except (ValueError, LookupError, TypeError):
        return ""
