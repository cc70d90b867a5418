"""The part of a person's OneDrive that a bot uses: upload addresses for files that the person accepted.

learn.microsoft.com/microsoftteams/platform/bots/how-to/bots-filesv4
learn.microsoft.com/onedrive/developer/rest-api/api/driveitem_createuploadsession#upload-bytes-to-the-upload-session
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from aiohttp import web

from .calls import Calls
from .errors import TeamsError
from .json_checks import Json
from .workspace import File, User, Workspace

#: In place of https://acme-my.sharepoint.com.
HOST = "acme-my.sharepoint.com"
#: A request has at most 60 MiB (the page above).
MAX_BYTES = 60 * 1024 * 1024


class Files:
    def __init__(self, workspace: Workspace, calls: Calls, url: Callable[[], str]) -> None:
        self._workspace, self._calls, self._url = workspace, calls, url

    @property
    def calls(self) -> list[Json]:
        return self._calls.record

    def routes(self) -> list[web.RouteDef]:
        return [web.put(f"/{HOST}/upload/{{id}}", self._put)]

    def close(self) -> None:
        """Ends calls that wait."""
        self._calls.closing.set()

    def open_upload(self, user: User, name: str) -> Json:
        """Makes an upload address for this file: the `uploadInfo` of an accepted consent card."""
        id = secrets.token_hex(8)
        base = f"{self._url()}/{HOST}"
        content_url = f"{base}/personal/{user.id}/Documents/Applications/{name}"
        self._workspace.files[id] = File(id, user.id, name, content_url)
        return {
            "contentUrl": content_url,
            "name": name,
            "uploadUrl": f"{base}/upload/{id}?tempauth={secrets.token_hex(8)}",
            "uniqueId": id,
            "fileType": name.rpartition(".")[2],
        }

    async def _put(self, request: web.Request) -> web.StreamResponse:
        async def run(call: Json) -> tuple[Any, int]:
            call["body"] = data = await request.read()
            call["headers"] = dict(request.headers)
            return self._save(request, data), 201

        return await self._calls.handle(request, "upload", run)

    def _save(self, request: web.Request, data: bytes) -> Json:
        """Saves the whole file in one request. The URL itself gives the right to upload: SharePoint refuses
        foreign tokens.
        """
        file = self._workspace.files.get(request.match_info["id"])
        if "Authorization" in request.headers:
            raise TeamsError(401, "unauthenticated", "The token is not of SharePoint.")
        if file is None or file.data is not None:
            raise TeamsError(404, "itemNotFound", "The upload session was not found.")
        if request.headers.get("Content-Range") != f"bytes 0-{len(data) - 1}/{len(data)}":
            raise TeamsError(400, "invalidRequest", "Content-Range does not fit the content.")
        if not 0 < len(data) <= MAX_BYTES:
            raise TeamsError(413, "maxFragmentLengthExceeded", "The fragment is too long.")
        file.data = data
        self._workspace.notify_change()
        return {"id": file.id, "name": file.name, "size": len(data)}
