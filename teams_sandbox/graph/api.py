"""Graph over HTTP: its operations, and the permissions that they need."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from aiohttp import web

from ..calls import Calls
from ..errors import graph_denied
from ..json_checks import Json
from ..login import GRAPH, Login
from ..workspace import Workspace
from . import directory, messages
from .query import Query

PREFIX = "/graph.microsoft.com/v1.0"
_PEOPLE = frozenset({"User.Read.All", "Directory.Read.All"})
_GROUPS = frozenset({"GroupMember.Read.All", "Group.Read.All", "Directory.Read.All"})
_CHANNEL = "/teams/{team}/channels/{channel}/messages"
_CHAT = "/chats/{chat}/messages"

#: By operation: paths, permissions of which one is needed (None: the operation looks itself).
OPERATIONS: dict[str, tuple[tuple[str, ...], frozenset[str] | None, Callable[[Query], Json]]] = {
    "graph_user": (("/users/{id}",), _PEOPLE, directory.get_user),
    "graph_group": (("/groups/{id}",), _GROUPS, directory.get_group),
    "graph_members": (
        ("/groups/{id}/transitiveMembers",),
        _GROUPS,
        directory.list_transitive_members,
    ),
    "graph_user_members": (
        ("/groups/{id}/transitiveMembers/microsoft.graph.user",),
        _GROUPS,
        directory.list_user_members,
    ),
    "graph_groups_of": (
        (
            "/users/{id}/transitiveMemberOf",
            "/users/{id}/transitiveMemberOf/microsoft.graph.group",
        ),
        _GROUPS,
        directory.list_groups_of,
    ),
    "graph_channel_messages": ((_CHANNEL,), None, messages.list_channel_messages),
    "graph_replies": ((_CHANNEL + "/{message}/replies",), None, messages.list_replies),
    "graph_chat_messages": ((_CHAT,), None, messages.list_chat_messages),
    "graph_channel_message": ((_CHANNEL + "/{message}",), None, messages.get_channel_message),
    "graph_reply": ((_CHANNEL + "/{message}/replies/{reply}",), None, messages.get_reply),
    "graph_chat_message": ((_CHAT + "/{message}",), None, messages.get_chat_message),
}


class GraphApi:
    def __init__(
        self, workspace: Workspace, login: Login, calls: Calls, url: Callable[[], str]
    ) -> None:
        self._workspace, self._login, self._calls, self._url = workspace, login, calls, url

    @property
    def calls(self) -> list[Json]:
        return self._calls.record

    def close(self) -> None:
        """Ends calls that wait."""
        self._calls.closing.set()

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(PREFIX + path, partial(self._handle, operation))
            for operation, (paths, _, _) in OPERATIONS.items()
            for path in paths
        ]

    async def _handle(self, operation: str, request: web.Request) -> web.StreamResponse:
        async def run(call: Json) -> tuple[Any, int]:
            self._login.check(request, GRAPH)
            _, permissions, answer = OPERATIONS[operation]
            if permissions is not None and not permissions & self._workspace.app.permissions:
                raise graph_denied()
            query = Query(
                self._workspace,
                self._url(),
                request.path.removeprefix(PREFIX),
                dict(request.match_info),
                dict(request.query),
                request.headers.get("ConsistencyLevel", ""),
            )
            return answer(query), 200

        ids = request.match_info
        conversation = ids.get("channel") or ids.get("chat") or ""
        return await self._calls.handle(request, operation, run, conversation)
