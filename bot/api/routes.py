"""The API's routes: authentication, request parsing, responses."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web

from hitl_core.model import Review, Token

from ..offload import MAX_INLINE_JSON, offload_work, set_token
from ..web import ApiProblem, admit, release_body
from .agent_api import AgentApi, review_size
from .error_responses import handle_errors
from .request_slots import RequestSlots
from .review_view import to_review_out
from .wire import (
    Cancel,
    Done,
    ListQuery,
    OnceIn,
    Renew,
    ResponseModel,
    ReviewQuery,
    Submit,
    SubmitInterrupt,
    bodies,
    build_document,
)

#: How long it is not asked again whether a token was revoked, in seconds, while a body arrives or waits.
TOKEN_CHECK_LASTS = 1.0

_KEY_PATTERN = re.compile(r"[!-~]{1,255}")


def add_api(app: web.Application, api: AgentApi) -> None:
    """Add everything under /v1. On shutdown of the application the API is closed."""
    routes = Routes(api)
    v1 = web.Application(middlewares=[handle_errors])
    v1.router.add_post("/reviews", routes.submit)
    v1.router.add_get("/reviews", routes.list)
    v1.router.add_get("/reviews/{id}", routes.get)
    v1.router.add_post("/reviews/{id}/once", routes.once)
    v1.router.add_post("/reviews/{id}/renew", routes.renew)
    v1.router.add_post("/reviews/{id}/done", routes.finish)
    v1.router.add_post("/reviews/{id}/cancel", routes.cancel)
    v1.router.add_get("/openapi.json", routes.openapi)

    async def close(_: web.Application) -> None:
        await api.close()

    v1.on_shutdown.append(close)
    app.add_subapp("/v1", v1)


class Routes:
    """One method for each route. A request is authenticated before its body is read, and it gets its turn
    when its whole body has arrived, so that a slow client delays nobody.
    """

    def __init__(self, api: AgentApi) -> None:
        self._api, self._slots = api, RequestSlots()
        self._document = json.dumps(build_document()).encode()

    async def submit(self, request: web.Request) -> web.Response:
        async with self._turn(request) as who:
            body = await bodies.read_json(request)
            submission = bodies.parse_model(
                SubmitInterrupt if "interrupt" in body else Submit, body
            )
            size = request.content_length
            stored = await self._api.submit(
                who, submission, large=size is None or size > MAX_INLINE_JSON
            )
            status = 201 if any(new for _, new in stored) else 200
            if len(stored) > 1:
                return await _list_response([review for review, _ in stored], status)
            [(review, _)] = stored
            response = await _review_response(review, status)
            response.headers["Location"] = f"/v1/reviews/{review.id}"
            return response

    async def list(self, request: web.Request) -> web.Response:
        who = await self._authenticate(request)
        query = bodies.parse_query(request, ListQuery)
        if (query.thread_id is None) == (query.status is None):
            raise ApiProblem("invalid", "Send either thread_id or status=settled.")
        if query.thread_id is not None and query.wait:
            raise ApiProblem("invalid", "wait: Only allowed with status=settled.")
        if query.wait:
            _check_room(request, who, waits=True)
            await self._api.wait_ready(who, query.wait, _disconnect_check(request))
            who = await self._authenticate(request)  # the token may have been revoked
        async with self._slots.hold(who.id):
            if query.thread_id is not None:
                return await _list_response(
                    await self._api.list_thread(who, query.thread_id, query.limit)
                )
            return await _list_response(await self._api.list_ready(who, query.limit))

    async def get(self, request: web.Request) -> web.Response:
        who = await self._authenticate(request)
        query, review_id = bodies.parse_query(request, ReviewQuery), _review_id(request)
        if query.wait:
            _check_room(request, who, waits=True)
            await self._api.wait_settled(who, review_id, query.wait, _disconnect_check(request))
            who = await self._authenticate(request)  # the token may have been revoked
        async with self._slots.hold(who.id):
            return await _review_response(await self._api.load(who, review_id))

    async def once(self, request: web.Request) -> web.Response:
        async with self._turn(request) as who:
            body, key = await bodies.read_model(request, OnceIn), _idempotency_key(request)
            return _json_response(await self._api.claims.once(who, _review_id(request), body, key))

    async def renew(self, request: web.Request) -> web.Response:
        async with self._turn(request) as who:
            body = await bodies.read_model(request, Renew, optional=True)
            return _json_response(await self._api.claims.renew(who, _review_id(request), body))

    async def finish(self, request: web.Request) -> web.Response:
        async with self._turn(request) as who:
            body = await bodies.read_model(request, Done, optional=True)
            key = _idempotency_key(request)
            return await _review_response(
                await self._api.claims.finish(who, _review_id(request), body, key)
            )

    async def cancel(self, request: web.Request) -> web.Response:
        async with self._turn(request) as who:
            body = await bodies.read_model(request, Cancel, optional=True)
            return await _review_response(
                await self._api.claims.cancel(who, _review_id(request), body)
            )

    async def openapi(self, _: web.Request) -> web.Response:
        return web.Response(body=self._document, content_type="application/json")

    async def _authenticate(self, request: web.Request) -> Token:
        """The token, by RFC 6750, only from the header: proxies log URLs, and so a token in a URL."""
        values = request.headers.getall("Authorization", [])
        scheme, _, text = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        if scheme.lower() != "bearer":
            headers = {"WWW-Authenticate": 'Bearer realm="hitl"'}
            raise ApiProblem("unauthorized", "Send Authorization: Bearer <token>.", headers=headers)
        who = await self._api.authenticate(text.strip(" "))
        set_token(who.id)
        _check_room(request, who)
        return who

    @asynccontextmanager
    async def _turn(self, request: web.Request) -> AsyncGenerator[Token]:
        """The request's token, while the request is handled."""
        who = await self._authenticate(request)
        authenticated_at = time.monotonic()
        await bodies.receive(request)
        try:
            async with self._slots.hold(who.id):
                if time.monotonic() - authenticated_at > TOKEN_CHECK_LASTS:
                    await self._authenticate(request)  # the token may have been revoked
                release_body(request)
                yield who
        finally:
            release_body(request)


def _check_room(request: web.Request, who: Token, *, waits: bool = False) -> None:
    """Raises ApiProblem if agents already use their share of the server. The rest is for clicks."""
    if not admit(request, who.id, waits=waits):
        what = "requests that wait" if waits else "requests"
        detail = (
            f"Too many {what} of this token or of all agents are in progress. Send it again later."
        )
        raise ApiProblem("too_many", detail, headers={"Retry-After": "5"})


def _review_id(request: web.Request) -> str:
    return request.match_info["id"]


def _idempotency_key(request: web.Request) -> str | None:
    """https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/"""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not _KEY_PATTERN.fullmatch(key):
        detail = "Idempotency-Key: It must have 1 to 255 visible ASCII characters."
        raise ApiProblem("invalid", detail)
    return key


def _disconnect_check(request: web.Request) -> Callable[[], bool]:
    """A function that says whether the client has disconnected."""
    return lambda: request.transport is None or request.transport.is_closing()


async def _review_response(review: Review, status: int = 200) -> web.Response:
    return _response(await _encode_review(review), status)


async def _list_response(reviews: Sequence[Review], status: int = 200) -> web.Response:
    """A `ReviewList`, encoded review by review."""
    texts = [await _encode_review(review) for review in reviews]
    return _response(b'{"reviews":[%b]}' % b",".join(texts), status)


async def _encode_review(review: Review) -> bytes:
    """The review as JSON. Other requests can run before, and while a large review is encoded."""
    await asyncio.sleep(0)

    def write() -> bytes:
        return _encode(to_review_out(review))

    return await offload_work(write) if review_size(review) > MAX_INLINE_JSON else write()


def _json_response(answer: ResponseModel) -> web.Response:
    return _response(_encode(answer))


def _encode(answer: ResponseModel) -> bytes:
    """JSON in the core's format, so that a number is sent exactly as it was stored."""
    return json.dumps(answer.model_dump(), ensure_ascii=False, separators=(",", ":")).encode()


def _response(body: bytes, status: int = 200) -> web.Response:
    return web.Response(body=body, status=status, content_type="application/json")
