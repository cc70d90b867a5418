"""The page's files, and the routes under `/sandbox` for what it shows and what a person does there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from ..json_checks import Json, is_object
from ..validation import elements_in
from ..workspace import Conversation, User
from .snapshot import snapshot

if TYPE_CHECKING:
    from ..sandbox import Sandbox

_FILES = Path(__file__).with_name("static")
_PING_INTERVAL = 15.0  # seconds


class PageApi:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._streams: set[asyncio.Event] = set()
        self._closing = False

    def routes(self) -> list[web.RouteDef]:
        parts = [path for path in _FILES.iterdir() if path.suffix in (".css", ".js")]
        return [
            web.get("/", _serve_file(_FILES / "index.html")),
            *(web.get(f"/{path.name}", _serve_file(path)) for path in parts),
            web.get("/sandbox/state", self._state),
            web.get("/sandbox/stream", self._stream),
            web.post("/sandbox/press", _json_route(self._press)),
            web.post("/sandbox/file", _json_route(self._answer_file)),
            web.post("/sandbox/say", _json_route(self._say)),
            web.post("/sandbox/announce", _json_route(self._announce)),
        ]

    def end(self) -> None:
        """Ends the streams of all open pages."""
        self._closing = True
        for stream in self._streams:
            stream.set()

    async def _state(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(snapshot(self._sandbox, request.query.get("user", "")))

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: the whole state at once, and again after every change."""
        user = request.query.get("user", "")
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        change = asyncio.Event()
        change.set()
        stop = self._sandbox.workspace.on_change(change.set)
        self._streams.add(change)
        try:
            while not self._closing:
                try:
                    await asyncio.wait_for(change.wait(), _PING_INTERVAL)
                except TimeoutError:
                    await response.write(b": ping\n\n")
                    continue
                change.clear()
                state = json.dumps(snapshot(self._sandbox, user))
                await response.write(f"data: {state}\n\n".encode())
        except ConnectionResetError:
            pass
        finally:
            stop()
            self._streams.discard(change)
        return response

    async def _press(self, params: Json) -> Json:
        """`action`: the JSON pointer of the button in the card that this person sees. `entries`: input id →
        what was entered."""
        user, conversation = self._find(params)
        message = conversation.messages[params["message"]]
        card = message.card_for(user.id) or {}
        pointed = [one for at, one in elements_in(card) if at == params["action"]]
        if not pointed:
            raise ValueError("This card has changed. Please look at it again.")
        presses = self._sandbox.presses
        result = await presses.press(user, message, pointed[0], params.get("entries"))
        error = result.error or "; ".join(result.errors.values())
        return {"ok": not error, "text": result.notice, "error": error, "problem": result.problem}

    async def _answer_file(self, params: Json) -> None:
        """`action`: "accept" or "decline" the file that the bot wants to send."""
        user, conversation = self._find(params)
        action = params["action"]
        if action not in ("accept", "decline"):
            raise ValueError("action must be accept or decline.")
        await self._sandbox.consents.answer(user, conversation.messages[params["message"]], action)

    async def _say(self, params: Json) -> Json:
        """A text that begins with `@` and the app's name mentions it."""
        user, conversation = self._find(params)
        at_app = f"@{self._sandbox.app.name}"
        text = str(params["text"]).strip()
        message = await self._sandbox.messages.say(
            user,
            conversation,
            text.removeprefix(at_app).strip(),
            mention=text.startswith(at_app),
            root=params.get("root"),
        )
        return {"message": message.id}

    async def _announce(self, params: Json) -> None:
        """Tells the bot again all places where the app is installed."""
        await self._sandbox.installs.announce()

    def _find(self, params: Json) -> tuple[User, Conversation]:
        """The person, and the conversation that they are in. Raises ValueError."""
        workspace = self._sandbox.workspace
        user = workspace.users.get(params["user"])
        conversation = workspace.find_conversation(params["conversation"])
        if user is None or conversation is None or user not in workspace.members(conversation):
            raise ValueError("You are not in this conversation.")
        return user, conversation


def _serve_file(path: Path) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def send(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(path, headers={"Cache-Control": "no-store"})

    return send


def _json_route(
    action: Callable[[Json], Awaitable[Json | None]],
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """A POST with JSON, which no page of another site can send. The answer is JSON; `error` if the person
    can't do this."""

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="send JSON")
        try:
            params = json.loads(await request.text())
            if not is_object(params):
                raise web.HTTPBadRequest(text="send a JSON object")
            return web.json_response({"ok": True, **(await action(params) or {})})
        except KeyError as missing:
            raise web.HTTPBadRequest(text=f"missing: {missing.args[0]}") from missing
        except ValueError as error:
            return web.json_response({"ok": False, "error": str(error)})

    return handle
