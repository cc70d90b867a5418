"""The routes under `/sandbox`, for the page and for the hands of tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

from bot.sandbox import acme
from bot.sandbox.interactions import Refused
from bot.sandbox.message import escaped
from bot.sandbox.shapes import Json, is_object
from bot.sandbox.snapshot import snapshot
from bot.sandbox.workspace import Ephemeral, Message

if TYPE_CHECKING:
    from bot.sandbox.server import Sandbox

PAGE = Path(__file__).with_name("page")
PING = 15.0
AGENT_PATIENCE = 30.0


class PageApi:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._asking: set[asyncio.Task[None]] = set()

    def routes(self) -> list[web.RouteDef]:
        parts = [path for path in PAGE.iterdir() if path.suffix in (".css", ".js")]
        return [
            web.get("/", self._file(PAGE / "index.html")),
            *(web.get(f"/{path.name}", self._file(path)) for path in parts),
            web.get("/sandbox/state", self._state),
            web.get("/sandbox/stream", self._stream),
            web.get("/sandbox/calls", self._calls),
            web.get("/sandbox/deliveries", self._deliveries),
            web.get("/sandbox/notifications", self._notifications),
            web.post("/sandbox/click", self._told(self._click)),
            web.post("/sandbox/submit", self._told(self._sandbox.interactions.submit)),
            web.post("/sandbox/close", self._told(self._close)),
            web.post("/sandbox/dismiss", self._told(self._dismiss)),
            web.post("/sandbox/say", self._told(self._say)),
            web.post("/sandbox/command", self._told(self._sandbox.commands.run)),
            web.post("/sandbox/home", self._told(self._home)),
            web.post("/sandbox/agent", self._told(self._agent)),
            web.post("/sandbox/trouble", self._told(self._trouble)),
        ]

    async def end(self) -> None:
        """Lets go of questions that the agent has not taken yet."""
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)

    @staticmethod
    def _file(path: Path) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def send(request: web.Request) -> web.StreamResponse:
            return web.FileResponse(path, headers={"Cache-Control": "no-store"})

        return send

    @staticmethod
    def _told(
        do: Callable[[Json], Awaitable[Json | None]],
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """A POST with JSON (which no page of another site can send) and an answer with JSON."""

        async def handle(request: web.Request) -> web.StreamResponse:
            if request.content_type != "application/json":
                raise web.HTTPUnsupportedMediaType(text="send JSON")
            try:
                wish = json.loads(await request.text())
                if not is_object(wish):
                    raise web.HTTPBadRequest(text="send a JSON object")
                return web.json_response({"ok": True, **(await do(wish) or {})})
            except Refused as refusal:
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
        rung = self._sandbox.workspace.notifications
        mine = [asdict(one) for one in rung if one.user == request.query.get("user", "")]
        return web.json_response(mine)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: the whole state at once, and again after every change."""
        user = request.query.get("user", "")
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        changed = asyncio.Event()
        changed.set()
        stop = self._sandbox.workspace.on_change(changed.set)
        self._sandbox.streams.add(changed)
        try:
            while not self._sandbox.closing:
                try:
                    await asyncio.wait_for(changed.wait(), PING)
                except TimeoutError:
                    await response.write(b": ping\n\n")
                    continue
                changed.clear()
                state = json.dumps(snapshot(self._sandbox, user))
                await response.write(f"data: {state}\n\n".encode())
        except ConnectionResetError:
            pass
        finally:
            stop()
            self._sandbox.streams.discard(changed)
        return response

    async def _click(self, wish: Json) -> None:
        where = self._sandbox.interactions
        await (where.click_view(wish) if "view_id" in wish else where.click_message(wish))

    async def _close(self, wish: Json) -> None:
        await self._sandbox.interactions.close(wish)

    async def _dismiss(self, wish: Json) -> None:
        notice = self._sandbox.workspace.ephemerals.get(wish["id"])
        if notice is not None and notice.user == wish["user"]:
            self._sandbox.workspace.dismiss(notice.ts)

    async def _home(self, wish: Json) -> None:
        """A person enters the app's Home tab."""
        person = self._sandbox.workspace.person(wish["user"])
        if person is None or person.deleted or not self._sandbox.app.home_tab:
            raise Refused("There is no Home tab for you.")
        self._sandbox.homes.open(person.id)

    async def _trouble(self, wish: Json) -> None:
        self._sandbox.troubles.order(wish)

    async def _say(self, wish: Json) -> Json:
        workspace = self._sandbox.workspace
        channel = workspace.channels.get(wish["channel"])
        if channel is None or not channel.takes_words_of(wish["user"], self._sandbox.app):
            raise Refused("You can't write in this channel.")
        if not wish["text"].strip():
            raise Refused("There is nothing to send.")
        message = Message(
            channel.id,
            workspace.next_ts(),
            wish["user"],
            escaped(wish["text"]),
            thread_ts=wish.get("thread_ts"),
        )
        workspace.add(message)
        if self._sandbox.ask_url and channel.id == acme.ASK_CHANNEL:
            task = asyncio.create_task(self._ask(self._sandbox.ask_url, wish, message))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)
        return {"ts": message.ts}

    async def _ask(self, url: str, wish: Json, message: Message) -> None:
        """Hands the words to the agent, and tells the person when nobody takes them."""
        question: Json = {"channel": message.channel, "ts": message.ts}
        question |= {"user": wish["user"], "text": wish["text"]}
        if message.thread_ts:
            question["thread_ts"] = message.thread_ts
        timeout = aiohttp.ClientTimeout(total=AGENT_PATIENCE)
        try:
            assert self._sandbox.courier.session is not None
            async with self._sandbox.courier.session.post(
                url, json=question, timeout=timeout
            ) as answer:
                answer.raise_for_status()
        except (aiohttp.ClientError, TimeoutError):
            workspace = self._sandbox.workspace
            text = f"{acme.AGENT_NAME} is not running, so nobody has read this."
            workspace.whisper(
                Ephemeral(wish["user"], message.channel, workspace.next_ts(), text, [])
            )

    async def _agent(self, wish: Json) -> Json:
        """The agent's own words: a bot of its own, beside the app."""
        workspace = self._sandbox.workspace
        channel = workspace.channels.get(wish.get("channel") or acme.ASK_CHANNEL)
        if channel is None:
            raise Refused("There is no such channel.")
        message = Message(
            channel.id,
            workspace.next_ts(),
            acme.AGENT,
            escaped(wish["text"]),
            bot_id=acme.AGENT_BOT,
            thread_ts=wish.get("thread_ts"),
        )
        workspace.add(message)
        return {"ts": message.ts}
