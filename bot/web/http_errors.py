"""The answers to what is not HTTP, and to failures that no middleware caught: problems, as all other errors.

aiohttp's own answers are plain text that repeats the request, with the token in it.
"""

from __future__ import annotations

from aiohttp import web
from aiohttp.http_exceptions import BadStatusLine, InvalidURLError
from aiohttp.web_protocol import RequestHandler

from .problems import ApiProblem, to_response


class HttpProtocol(RequestHandler):
    """aiohttp's protocol of one connection, with our error responses."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        super().handle_error(request, status, exc, message)  # logs it, and refuses a second answer
        problem = (
            ApiProblem("internal", "The request failed. The server's log has the error.")
            if status >= 500
            else ApiProblem("bad_request", f"The request is not valid HTTP: {_reason(exc)}.")
        )
        response = to_response(problem)
        response.force_close()
        return response


def _reason(error: BaseException | None) -> str:
    """What is wrong, without the bytes that aiohttp quotes after a colon."""
    if error is None or isinstance(error, BadStatusLine | InvalidURLError):
        return "its first line can't be read"
    text = str(getattr(error, "message", error)).strip()
    return text.partition("\n")[0].partition(":")[0].rstrip(".")
