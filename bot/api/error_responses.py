"""The API's middleware: errors become problems, and each request gets one log line."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable
from uuid import uuid4

from aiohttp import web

from hitl_core.errors import (
    HitlError,
    LeaseLost,
    Refused,
    StoreError,
    StoreUnavailable,
    safe_message,
)

from ..logs import ThrottledLog
from ..web import ApiProblem, Connection, connection_of, to_response

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_unauthenticated_log = ThrottledLog(
    log, "%d requests came without a valid token; the newest got %d"
)
_failure_log = ThrottledLog(log, "%d requests without a valid token failed; the newest, %s: %s")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@web.middleware
async def handle_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Wraps every request. Its log line has no body and no query; requests without a valid token share a
    throttled line. A client may set the request's id with X-Request-Id.
    """
    header_id = request.headers.get("X-Request-Id", "")
    request_id = header_id if _REQUEST_ID.fullmatch(header_id) else uuid4().hex
    began = time.monotonic()
    # Taken now: the request has none any more when its client has disconnected.
    connection = connection_of(request)
    try:
        response = await handler(request)
    except HitlError as error:
        _log_failure(connection, request_id, error)
        response = to_response(_to_problem(error, request_id))
    except (web.HTTPNotFound, web.HTTPMethodNotAllowed) as error:
        response = to_response(_route_problem(error))
    except Exception as error:
        _log_failure(connection, request_id, error)
        response = to_response(_internal_problem(request_id))
    took = (time.monotonic() - began) * 1000
    path = request.rel_url.raw_path[:200]
    if _is_authenticated(connection):
        log.info("%s %s %s %d %.0f ms", request_id, request.method, path, response.status, took)
    elif response.status >= 400:
        _unauthenticated_log.warn(response.status)
    response.headers.update(
        {
            "X-Request-Id": request_id,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
    )
    return response


def _is_authenticated(connection: Connection | None) -> bool:
    return connection is not None and connection.is_authenticated


def _log_failure(connection: Connection | None, request_id: str, error: Exception) -> None:
    """Log a failure of ours. Anybody may send requests without a valid token, so those share a line."""
    match error:
        case ApiProblem() | LeaseLost() | Refused(code="cancelled" | "started" | "held" | "busy"):
            pass
        case _ if not _is_authenticated(connection):
            _failure_log.warn(request_id, safe_message(error))
        case StoreUnavailable():
            log.warning("%s: %s", request_id, error)
        case _:
            log.error("%s failed: %s", request_id, safe_message(error))


def _to_problem(error: HitlError, request_id: str) -> ApiProblem:
    """The error for the client. It never has a URL or a key of the store."""
    match error:
        case ApiProblem():
            return error
        case LeaseLost():
            return ApiProblem("lease_lost", "This holder's lease has ended.")
        case Refused(code="cancelled" | "started" | "held" as code):
            return ApiProblem(code, str(error))
        case Refused(code="busy"):
            again = "Other requests are changing this review. Send the request again."
            return ApiProblem("busy", again, headers={"Retry-After": "1"})
        case StoreUnavailable():
            away = "The store can't be reached. Send the request again in a moment: that is safe."
            return ApiProblem("unavailable", away, headers={"Retry-After": "2"})
        case StoreError():
            refused = "The store refused this request. Tell the operator of the server."
            return ApiProblem("unavailable", refused, headers={"Retry-After": "30"})
        case _:
            return _internal_problem(request_id)


def _route_problem(error: web.HTTPNotFound | web.HTTPMethodNotAllowed) -> ApiProblem:
    if isinstance(error, web.HTTPNotFound):
        return ApiProblem("no_such_path", "There is no such path. See /v1/openapi.json.")
    allowed = ", ".join(sorted(error.allowed_methods))
    return ApiProblem(
        "method_not_allowed", f"This path accepts only {allowed}.", headers={"Allow": allowed}
    )


def _internal_problem(request_id: str) -> ApiProblem:
    return ApiProblem(
        "internal", f"The request failed. The server's log has the error as {request_id}."
    )
