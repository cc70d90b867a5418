"""The contents of files: the app uploads each to an address that works once, and people who may see it read
it.

https://docs.slack.dev/messaging/working-with-files#upload
"""

from __future__ import annotations

from aiohttp import web

from ..workspace import Workspace

# A file's text can come from anybody, so a browser must show it as text and run nothing in it.
_INERT = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
    "Cache-Control": "no-store",
}


def upload_routes(workspace: Workspace) -> list[web.RouteDef]:
    """`POST /upload/v1/{ticket}` of the app, and `GET /files/{id}?user=` of a person."""

    async def upload(request: web.Request) -> web.StreamResponse:
        for file in workspace.files.values():
            if file["ticket"] == request.match_info["ticket"] and file["content"] is None:
                file["content"] = await _content(request)
                file["size"] = len(file["content"])
                return web.Response(text=f"OK - {len(file['content'])}")
        raise web.HTTPNotFound(text="no such upload")

    async def read(request: web.Request) -> web.StreamResponse:
        file = workspace.files.get(request.match_info["file"])
        user = request.query.get("user")
        if not user:
            raise web.HTTPForbidden(text="the user who reads it is missing: ?user=U0ALICE")
        places = [workspace.channels[one] for one in file["shared_in"]] if file else []
        if file is None or not any(workspace.can_see(user, place) for place in places):
            raise web.HTTPNotFound(text="no such file")
        return web.Response(
            body=file["content"], content_type="text/plain", charset="utf-8", headers=_INERT
        )

    return [web.post("/upload/v1/{ticket}", upload), web.get("/files/{file}", read)]


async def _content(request: web.Request) -> bytes:
    if not request.content_type.startswith("multipart/"):
        return await request.read()
    part = next(iter((await request.post()).values()), None)
    return part.file.read() if isinstance(part, web.FileField) else b""
