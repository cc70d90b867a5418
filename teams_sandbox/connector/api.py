"""The Connector over HTTP: its operations, tokens, and rate limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import web

from ..calls import Calls
from ..errors import TeamsError, bad_request
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
    """A call in `calls` also has its conversation and its item (an activity, a member)."""

    def __init__(
        self,
        workspace: Workspace,
        login: Login,
        calls: Calls,
        limits: RateLimits | None,
    ) -> None:
        self._workspace, self._login, self._calls = workspace, login, calls
        self._limits = limits

    @property
    def calls(self) -> list[Json]:
        return self._calls.record

    def set_rate_limit(self, scale: float) -> None:
        """Limits calls from now on, with this many times the rate of Teams' own limits."""
        self._limits = RateLimits(self._workspace.now, scale)

    def close(self) -> None:
        """Ends calls that wait."""
        self._calls.closing.set()

    def routes(self) -> list[web.RouteDef]:
        return [
            web.route(method, path, partial(self._handle, operation))
            for operation, (method, path, *_) in OPERATIONS.items()
        ]

    async def _handle(self, operation: str, request: web.Request) -> web.StreamResponse:
        conversation = request.match_info.get("conversation", "") or await _partner(request)

        async def run(call: Json) -> tuple[Any, int]:
            call |= {"conversation": conversation, "item": request.match_info.get("item", "")}
            return await self._run(operation, request, call), OPERATIONS[operation][3]

        return await self._calls.handle(request, operation, run, conversation)

    async def _run(self, operation: str, request: web.Request, call: Json) -> Any:
        self._login.check(request, CONNECTOR)
        if self._workspace.app.disabled_by_admin:
            raise TeamsError(403, "BotDisabledByAdmin", "The tenant admin disabled this bot.")
        if request.match_info["tenant"].lower() != self._workspace.tenant_id:
            raise TeamsError(404, "ConversationNotFound", "Conversation not found.")
        call["body"] = body = await _read_body(request)
        _, _, scenario, _, run = OPERATIONS[operation]
        thread = call["conversation"].split(";", 1)[0]
        wait = self._limits.retry_after(scenario, thread) if self._limits else None
        if wait is not None:
            error = {"code": "Throttled", "message": "Too many requests."}
            raise TeamsError(429, "Throttled", "", {"error": error, "retry_after": wait})
        return run(
            Call(
                self._workspace,
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


async def _partner(request: web.Request) -> str:
    """The channel or the person that a new conversation is with; "" for other calls, or if it names none."""
    if request.method != "POST":
        return ""
    try:
        body = json.loads(await request.text())
        partner = body["members"][0] if "members" in body else body["channelData"]["channel"]
        return str(partner["id"])
    except (ValueError, LookupError, TypeError):
        return ""
