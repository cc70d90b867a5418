"""The door's routes on the bot's HTTP server: who asks, what, and how the answer looks."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence

from aiohttp import web

from bot.api import bodies
from bot.api.answering import answering
from bot.api.asked import (
    Cancel,
    Done,
    ListQuery,
    OnceIn,
    Renew,
    ReviewQuery,
    Submit,
    SubmitInterrupt,
)
from bot.api.door import Door, size_of
from bot.api.openapi import document
from bot.api.problems import Problem
from bot.api.shapes import Answer
from bot.api.view import view
from bot.beside import MANY, beside
from bot.visits import admit
from hitl_core.model import Review, Token

_KEY = re.compile(r"[!-~]{1,255}")


def add_door(app: web.Application, door: Door) -> None:
    """Everything under /v1. When the application shuts down the door is closed."""
    routes = Routes(door)
    v1 = web.Application(middlewares=[answering])
    v1.router.add_post("/reviews", routes.submit)
    v1.router.add_get("/reviews", routes.list)
    v1.router.add_get("/reviews/{id}", routes.get)
    v1.router.add_post("/reviews/{id}/once", routes.once)
    v1.router.add_post("/reviews/{id}/renew", routes.renew)
    v1.router.add_post("/reviews/{id}/done", routes.done)
    v1.router.add_post("/reviews/{id}/cancel", routes.cancel)
    v1.router.add_get("/openapi.json", routes.openapi)

    async def close(_: web.Application) -> None:
        await door.close()

    v1.on_shutdown.append(close)
    app.add_subapp("/v1", v1)


class Routes:
    """One method a route. Who asks is known before anything of the request is read."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._document = json.dumps(document()).encode()

    async def submit(self, request: web.Request) -> web.Response:
        who = await self._caller(request)
        body = await bodies.json_of(request)
        asked = bodies.parse(SubmitInterrupt if "interrupt" in body else Submit, body)
        size = request.content_length
        stored = await self._door.submit(who, asked, large=size is None or size > MANY)
        status = 201 if any(new for _, new in stored) else 200
        if len(stored) > 1:
            return await _list([review for review, _ in stored], status)
        [(review, _)] = stored
        response = await _one(review, status)
        response.headers["Location"] = f"/v1/reviews/{review.id}"
        return response

    async def list(self, request: web.Request) -> web.Response:
        who = await self._caller(request)
        asked = bodies.query(request, ListQuery)
        if (asked.thread_id is None) == (asked.status is None):
            raise Problem("invalid", "Ask for a thread_id, or for status=settled.")
        if asked.thread_id is not None:
            if asked.wait:
                raise Problem("invalid", "wait: It goes with status=settled.")
            found = await self._door.of_thread(who, asked.thread_id, asked.limit)
        else:
            if asked.wait:
                _check_room(request, who, waits=True)
            found = await self._door.ready(who, asked.limit, asked.wait, _gone(request))
            await self._again(request, asked.wait)
        return await _list(found)

    async def get(self, request: web.Request) -> web.Response:
        who = await self._caller(request)
        asked = bodies.query(request, ReviewQuery)
        if asked.wait:
            _check_room(request, who, waits=True)
        review = await self._door.settled(who, _id(request), asked.wait, _gone(request))
        await self._again(request, asked.wait)
        return await _one(review)

    async def once(self, request: web.Request) -> web.Response:
        who = await self._caller(request)
        asked = await bodies.read(request, OnceIn)
        return _json(await self._door.once(who, _id(request), asked, _key(request)))

    async def renew(self, request: web.Request) -> web.Response:
        who = await self._caller(request)
        asked = await bodies.read(request, Renew, optional=True)
        return _json(await self._door.renew(who, _id(request), asked))

    async def done(self, request: web.Request) -> web.Response:
        who = await self._caller(request)
        asked = await bodies.read(request, Done, optional=True)
        return await _one(await self._door.done(who, _id(request), asked, _key(request)))

    async def cancel(self, request: web.Request) -> web.Response:
        who = await self._caller(request)
        asked = await bodies.read(request, Cancel, optional=True)
        return await _one(await self._door.cancel(who, _id(request), asked))

    async def openapi(self, _: web.Request) -> web.Response:
        return web.Response(body=self._document, content_type="application/json")

    async def _caller(self, request: web.Request) -> Token:
        """By RFC 6750, in the header only: an address is logged on its way, and so would be its token."""
        given = request.headers.getall("Authorization", [])
        scheme, _, text = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() != "bearer":
            headers = {"WWW-Authenticate": 'Bearer realm="hitl"'}
            raise Problem("unauthorized", "Send Authorization: Bearer <token>.", headers=headers)
        who = await self._door.admit(text.strip(" "))
        _check_room(request, who)
        return who

    async def _again(self, request: web.Request, waited: float) -> None:
        """A token that was revoked during a wait gets nothing at its end."""
        if waited:
            await self._caller(request)


def _check_room(request: web.Request, who: Token, *, waits: bool = False) -> None:
    """Raises Problem where agents have as much of the server as they may: clicks need some as well."""
    if not admit(request, who.id, waits=waits):
        what = "requests that wait" if waits else "requests"
        told = f"Too many {what} of this token, or of all agents, are under way. Send it again."
        raise Problem("too_many", told, headers={"Retry-After": "5"})


def _id(request: web.Request) -> str:
    return request.match_info["id"]


def _key(request: web.Request) -> str | None:
    """https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/"""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not _KEY.fullmatch(key):
        told = "Idempotency-Key: It has 1 to 255 ASCII characters that can be seen."
        raise Problem("invalid", told)
    return key


def _gone(request: web.Request) -> Callable[[], bool]:
    """Whether the client has hung up."""
    return lambda: request.transport is None or request.transport.is_closing()


async def _one(review: Review, status: int = 200) -> web.Response:
    return _response(await _written(review), status)


async def _list(reviews: Sequence[Review], status: int = 200) -> web.Response:
    """A `ReviewList`, written review by review."""
    texts = [await _written(review) for review in reviews]
    return _response(b'{"reviews":[%b]}' % b",".join(texts), status)


async def _written(review: Review) -> bytes:
    """As its agent sees it. Others get their turn before, and while a large one is written."""
    await asyncio.sleep(0)

    def write() -> bytes:
        return _text(view(review))

    return await beside(write) if size_of(review) > MANY else write()


def _json(answer: Answer) -> web.Response:
    return _response(_text(answer))


def _text(answer: Answer) -> bytes:
    """As the core writes arguments: a number goes out as it was stored."""
    return json.dumps(answer.model_dump(), ensure_ascii=False, separators=(",", ":")).encode()


def _response(body: bytes, status: int = 200) -> web.Response:
    return web.Response(body=body, status=status, content_type="application/json")
