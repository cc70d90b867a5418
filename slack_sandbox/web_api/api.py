"""The Web API over HTTP: tokens, scopes, rate limits, injected faults, a record of all calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from ..activity import SCOPE as GROUPS_SCOPE
from ..activity import HomeTabs, UserGroups
from ..delivery import SocketMode
from ..errors import SlackError
from ..interactions import Triggers
from ..json_checks import Json, is_object
from ..workspace import App, Modals, Workspace
from . import chat, conversations, files, usergroups, users, views
from .call import Call
from .faults import Fault, Faults
from .rate_limits import RateLimits


def _auth_test(call: Call) -> Json:
    workspace = call.workspace
    return {
        "url": f"{call.url}/",
        "team": workspace.name,
        "user": workspace.users[call.app.user_id].name,
        "team_id": workspace.team_id,
        "user_id": call.app.user_id,
        "bot_id": call.app.bot_id,
        "is_enterprise_install": False,
    }


# The scope of a method; None if it depends on the channel, or if none is needed.
METHODS: dict[str, tuple[str | None, Callable[[Call], Json]]] = {
    "auth.test": (None, _auth_test),
    "chat.postMessage": ("chat:write", chat.post_message),
    "chat.update": ("chat:write", chat.update),
    "chat.delete": ("chat:write", chat.delete),
    "chat.postEphemeral": ("chat:write", chat.post_ephemeral),
    "chat.getPermalink": (None, chat.get_permalink),
    "conversations.info": (None, conversations.info),
    "conversations.list": (None, conversations.list_),
    "conversations.members": (None, conversations.members),
    "conversations.open": ("im:write", conversations.open_),
    "conversations.history": (None, conversations.history),
    "conversations.replies": (None, conversations.replies),
    "users.info": ("users:read", users.info),
    "users.list": ("users:read", users.list_),
    "users.lookupByEmail": ("users:read.email", users.lookup_by_email),
    "users.conversations": (None, users.conversations),
    "usergroups.list": (GROUPS_SCOPE, usergroups.list_),
    "usergroups.users.list": (GROUPS_SCOPE, usergroups.users_list),
    "views.open": (None, views.open_),
    "views.publish": (None, views.publish),
    "views.push": (None, views.push),
    "views.update": (None, views.update),
    "files.getUploadURLExternal": ("files:write", files.get_upload_url),
    "files.completeUploadExternal": ("files:write", files.complete_upload),
}
# The one method that accepts the app-level token, and no other token.
APP_TOKEN_METHOD = "apps.connections.open"


class WebApi:
    """`POST /api/{method}`. `calls` lists all calls: method, at, args, error or None."""

    def __init__(
        self,
        workspace: Workspace,
        app: App,
        modals: Modals,
        homes: HomeTabs,
        groups: UserGroups,
        triggers: Triggers,
        faults: Faults,
        sockets: SocketMode,
        limits: RateLimits | None,
        url: Callable[[], str],
    ) -> None:
        self._workspace, self._app, self._modals = workspace, app, modals
        self._homes, self._groups, self._sockets = homes, groups, sockets
        self._triggers, self._faults, self._limits = triggers, faults, limits
        self._url = url
        self.calls: list[Json] = []
        self.closing = asyncio.Event()

    def set_rate_limit(self, scale: float) -> None:
        """Limits calls from now on, with this many times the rate of Slack's own limits."""
        self._limits = RateLimits(self._workspace.now, scale)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            args = await _read_arguments(request)
        except SlackError as error:
            return web.json_response(error.answer)
        header = request.headers.get("Authorization", "")
        token = header.removeprefix("Bearer ") or args.pop("token", "")
        call: Json = {"method": method, "at": self._workspace.now(), "args": args, "error": None}
        self.calls.append(call)
        fault = self._faults.next_fault(method)
        if fault and fault.mode not in ("ok_but_reset", "late", "late_answer"):
            call["error"] = fault.mode
            return await self.fault_response(request, fault)
        if fault and fault.mode == "late":
            call["error"] = fault.mode
            await self._wait_for_release(fault)
        answer = self._answer(request.method, method, args, token)
        call["error"] = answer.get("error")
        if fault and fault.mode == "late_answer":
            await self._wait_for_release(fault)
        elif fault and fault.mode == "ok_but_reset":
            call["error"] = fault.mode
            return drop_connection(request)
        wait = answer.pop("retry_after", None)
        if wait is not None:
            return web.json_response(answer, status=429, headers={"Retry-After": str(wait)})
        scopes = ",".join(sorted(self._app.scopes))
        return web.json_response(answer, headers={"X-OAuth-Scopes": scopes})

    def _answer(self, verb: str, method: str, args: Json, token: str) -> Json:
        try:
            return {"ok": True, **self._run(verb, method, args, token)}
        except SlackError as error:
            return dict(error.answer)

    def _run(self, verb: str, method: str, args: Json, token: str) -> Json:
        if method not in METHODS and method != APP_TOKEN_METHOD:
            raise SlackError("unknown_method", req_method=method)
        self._check_token(
            token, self._app.app_token if method == APP_TOKEN_METHOD else self._app.token
        )
        wait = self._limits.retry_after(method, str(args.get("channel"))) if self._limits else None
        if wait is not None:
            raise SlackError("ratelimited", retry_after=wait)
        if method == APP_TOKEN_METHOD:
            if verb != "POST":
                raise SlackError("insecure_request")
            return self._sockets.open()
        scope, run = METHODS[method]
        call = Call(
            args,
            self._workspace,
            self._app,
            self._modals,
            self._homes,
            self._groups,
            self._triggers,
            self._url(),
        )
        if scope:
            call.require_scope(scope)
        return run(call)

    def _check_token(self, token: str, needed: str) -> None:
        if not token:
            raise SlackError("not_authed")
        if token != needed:
            known = token in (self._app.token, self._app.app_token)
            raise SlackError("not_allowed_token_type" if known else "invalid_auth")
        if not self._app.is_installed and token == self._app.token:
            raise SlackError("account_inactive")

    async def _wait_for_release(self, fault: Fault) -> None:
        """Waits until it is released, or the sandbox ends."""
        waits = [asyncio.create_task(each.wait()) for each in (fault.released, self.closing)]
        _, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in left:
            wait.cancel()

    async def fault_response(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        """The answer to a call that failed before it did anything."""
        match fault.mode:
            case "hang":
                await self.closing.wait()
                return drop_connection(request)
            case "http_500":
                return web.Response(status=500, text="Internal Server Error")
            case "ratelimited":
                headers = {"Retry-After": str(fault.retry_after)}
                body = {"ok": False, "error": "ratelimited"}
                return web.json_response(body, status=429, headers=headers)
            case "answer":
                return web.Response(
                    status=fault.status, text=fault.body, content_type="application/json"
                )
            case error:
                return web.json_response({"ok": False, "error": error})


def drop_connection(request: web.Request) -> web.StreamResponse:
    """Ends the connection without an answer."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _read_arguments(request: web.Request) -> Json:
    args: Json = dict(request.query)
    if request.content_type == "application/json":
        try:
            body: Any = json.loads(await request.text() or "{}")
        except ValueError:
            raise SlackError("invalid_json") from None
        if not is_object(body):
            raise SlackError("json_not_object")
        args |= body
    else:
        args |= dict(await request.post())
    return args
