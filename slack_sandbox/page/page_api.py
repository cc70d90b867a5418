"""The routes under `/sandbox`, for the page and for `slack_sandbox.client`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

from ..json_checks import Json, is_object
from ..validation import UserError
from ..workspace import AGENT, AGENT_BOT, AGENT_NAME, ASK_CHANNEL, Ephemeral, Message, escape_text
from .snapshot import snapshot

if TYPE_CHECKING:
    from ..sandbox import Sandbox

PAGE = Path(__file__).with_name("static")
PING_INTERVAL = 15.0
AGENT_TIMEOUT = 30.0


class PageApi:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._agent_tasks: set[asyncio.Task[None]] = set()

    def routes(self) -> list[web.RouteDef]:
        parts = [path for path in PAGE.iterdir() if path.suffix in (".css", ".js")]
        return [
            web.get("/", self._serve_file(PAGE / "index.html")),
            *(web.get(f"/{path.name}", self._serve_file(path)) for path in parts),
            web.get("/sandbox/state", self._state),
            web.get("/sandbox/stream", self._stream),
            web.get("/sandbox/calls", self._calls),
            web.get("/sandbox/deliveries", self._deliveries),
            web.get("/sandbox/notifications", self._notifications),
            web.post("/sandbox/click", self._json_route(self._click)),
            web.post("/sandbox/submit", self._json_route(self._sandbox.interactions.submit)),
            web.post("/sandbox/close", self._json_route(self._close)),
            web.post("/sandbox/dismiss", self._json_route(self._dismiss)),
            web.post("/sandbox/say", self._json_route(self._post_message)),
            web.post("/sandbox/command", self._json_route(self._sandbox.commands.run)),
            web.post("/sandbox/home", self._json_route(self._enter_home)),
            web.post("/sandbox/agent", self._json_route(self._post_agent_message)),
            web.post("/sandbox/fault", self._json_route(self._inject_fault)),
        ]

    async def end(self) -> None:
        """Cancels questions that the agent has not accepted yet."""
        for task in self._agent_tasks:
            task.cancel()
        await asyncio.gather(*self._agent_tasks, return_exceptions=True)

    @staticmethod
    def _serve_file(path: Path) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def send(request: web.Request) -> web.StreamResponse:
            return web.FileResponse(path, headers={"Cache-Control": "no-store"})

        return send

    @staticmethod
    def _json_route(
        action: Callable[[Json], Awaitable[Json | None]],
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """A POST with JSON, which no page of another site can send. The answer is JSON."""

        async def handle(request: web.Request) -> web.StreamResponse:
            if request.content_type != "application/json":
                raise web.HTTPUnsupportedMediaType(text="send JSON")
            try:
                params = json.loads(await request.text())
                if not is_object(params):
                    raise web.HTTPBadRequest(text="send a JSON object")
                return web.json_response({"ok": True, **(await action(params) or {})})
            except UserError as refusal:
                return web.json_response({"ok": False, "error": str(refusal)})
            except KeyError as missing:
                raise web.HTTPBadRequest(text=f"missing: {missing.args[0]}") from missing
            except ValueError as error:
                raise web.HTTPBadRequest(text=str(error)) from error

        return handle

    async def _state(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(snapshot(self._sandbox, request.query.get("user", "")))

    async def _calls(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(self._sandbox.api.calls)

    async def _deliveries(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(self._sandbox.interactions.deliveries)

    async def _notifications(self, request: web.Request) -> web.StreamResponse:
        notifications = self._sandbox.workspace.notifications
        mine = [asdict(one) for one in notifications if one.user == request.query.get("user", "")]
        return web.json_response(mine)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: the whole state at once, and again after every change."""
        user = request.query.get("user", "")
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        change_event = asyncio.Event()
        change_event.set()
        stop = self._sandbox.workspace.on_change(change_event.set)
        self._sandbox.streams.add(change_event)
        try:
            while not self._sandbox.closing:
                try:
                    await asyncio.wait_for(change_event.wait(), PING_INTERVAL)
                except TimeoutError:
                    await response.write(b": ping\n\n")
                    continue
                change_event.clear()
                state = json.dumps(snapshot(self._sandbox, user))
                await response.write(f"data: {state}\n\n".encode())
        except ConnectionResetError:
            pass
        finally:
            stop()
            self._sandbox.streams.discard(change_event)
        return response

    async def _click(self, params: Json) -> None:
        interactions = self._sandbox.interactions
        await (
            interactions.click_view(params)
            if "view_id" in params
            else interactions.click_message(params)
        )

    async def _close(self, params: Json) -> None:
        await self._sandbox.interactions.close(params)

    async def _dismiss(self, params: Json) -> None:
        notice = self._sandbox.workspace.ephemerals.get(params["id"])
        if notice is not None and notice.user == params["user"]:
            self._sandbox.workspace.dismiss_ephemeral(notice.ts)

    async def _enter_home(self, params: Json) -> None:
        """A person opens the app's Home tab."""
        person = self._sandbox.workspace.person(params["user"])
        if person is None or person.deleted or not self._sandbox.app.home_tab:
            raise UserError("There is no Home tab for you.")
        self._sandbox.homes.enter(person.id)

    async def _inject_fault(self, params: Json) -> None:
        self._sandbox.faults.configure(params)

    async def _post_message(self, params: Json) -> Json:
        workspace = self._sandbox.workspace
        channel = workspace.channels.get(params["channel"])
        if channel is None or not channel.can_write(params["user"], self._sandbox.app):
            raise UserError("You can't write in this channel.")
        if not params["text"].strip():
            raise UserError("There is nothing to send.")
        message = Message(
            channel.id,
            workspace.next_ts(),
            params["user"],
            escape_text(params["text"]),
            thread_ts=params.get("thread_ts"),
        )
        workspace.add(message)
        if self._sandbox.ask_url and channel.id == ASK_CHANNEL:
            task = asyncio.create_task(self._ask_agent(self._sandbox.ask_url, params, message))
            self._agent_tasks.add(task)
            task.add_done_callback(self._agent_tasks.discard)
        return {"ts": message.ts}

    async def _ask_agent(self, url: str, params: Json, message: Message) -> None:
        """Sends the text to the agent. If the agent doesn't accept it, the person gets a notice."""
        question: Json = {"channel": message.channel, "ts": message.ts}
        question |= {"user": params["user"], "text": params["text"]}
        if message.thread_ts:
            question["thread_ts"] = message.thread_ts
        timeout = aiohttp.ClientTimeout(total=AGENT_TIMEOUT)
        try:
            assert self._sandbox.app_client.session is not None
            async with self._sandbox.app_client.session.post(
                url, json=question, timeout=timeout
            ) as answer:
                answer.raise_for_status()
        except (aiohttp.ClientError, TimeoutError):
            workspace = self._sandbox.workspace
            text = f"{AGENT_NAME} is not running, so it has not read this."
            workspace.add_ephemeral(
                Ephemeral(params["user"], message.channel, workspace.next_ts(), text, [])
            )

    async def _post_agent_message(self, params: Json) -> Json:
        """A message of the agent, which is another bot than the app."""
        workspace = self._sandbox.workspace
        channel = workspace.channels.get(params.get("channel") or ASK_CHANNEL)
        if channel is None:
            raise UserError("There is no such channel.")
        message = Message(
            channel.id,
            workspace.next_ts(),
            AGENT,
            escape_text(params["text"]),
            bot_id=AGENT_BOT,
            thread_ts=params.get("thread_ts"),
        )
        workspace.add(message)
        return {"ts": message.ts}
