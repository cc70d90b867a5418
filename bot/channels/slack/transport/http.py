"""Slack's requests over HTTP: checks size and signature, then dispatches.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import logging

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from hitl_core.failpoints import failpoint

from ....logs import ThrottledLog
from ....offload import offload_click_parsing
from ....web import LEAVING, BodyError, mark_authenticated, read_body
from .payload import InvalidPayload, dispatch, parse_body

log = logging.getLogger(__name__)

#: The largest body, in bytes. Slack's requests are far smaller: a modal's view has 250 kB at most.
MAX_BODY = 1024 * 1024

_SIGNATURE_HEADERS = ("X-Slack-Request-Timestamp", "X-Slack-Signature")
_STATUS = {"too_large": 413, "too_slow": 408, "broken": 400}


class SlackEndpoint:
    """Requests without a valid signature are counted in the log, never quoted: anybody may send them."""

    def __init__(self, slack: AsyncApp, signing_secret: str) -> None:
        self._slack, self._signing = slack, SignatureVerifier(signing_secret)
        self._forged = ThrottledLog(
            log,
            "%d requests with a wrong signature were refused (401). If Slack sent them, "
            "SLACK_SIGNING_SECRET is not this app's, or this machine's clock is wrong",
        )
        self._broken = ThrottledLog(log, "%d requests did not arrive whole; the newest: %s")

    def add_to(self, app: web.Application, path: str) -> None:
        app.router.add_post(path, self.handle)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if (signature := _signature(request)) is None:
            return web.Response(status=401)
        try:
            body = await read_body(request, MAX_BODY)
        except BodyError as error:
            self._broken.warn(error.code)
            return web.Response(status=_STATUS[error.code])
        if not self._is_signature_valid(body, *signature):
            self._forged.warn()
            return web.Response(status=401)
        mark_authenticated(request)
        try:
            payload = await offload_click_parsing(body, parse_body)
        except InvalidPayload as wrong:
            log.error("a signed request was refused (%d): %s", wrong.status, wrong)
            return web.Response(status=wrong.status)
        response = await to_aiohttp_response(await dispatch(self._slack, payload))
        if request.app[LEAVING].is_set():
            response.force_close()
        try:
            await response.prepare(request)
            await response.write_eof()
        except ConnectionResetError:  # the decision is stored; the person may press again
            log.warning("an answer was too late: Slack closed the connection")
        await failpoint("bot.after_ack")
        return response

    def _is_signature_valid(self, body: bytes, timestamp: str, signature: str) -> bool:
        try:
            return self._signing.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:
            return False


def _signature(request: web.Request) -> tuple[str, str] | None:
    """The timestamp and the signature, checked before the body is read. None if one is missing, malformed or
    repeated.
    """
    if any(len(request.headers.getall(name, ())) != 1 for name in _SIGNATURE_HEADERS):
        return None
    timestamp, signature = (request.headers[name] for name in _SIGNATURE_HEADERS)
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
        return None
    return (timestamp, signature) if signature.isascii() and len(signature) < 100 else None
