"""Around every request of the door: refusals become problems, and the log gets one line."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable
from uuid import uuid4

from aiohttp import web

from bot.api.problems import Problem, response_of
from bot.logs import Rarely
from bot.visits import is_known
from hitl_core.errors import HitlError, LeaseLost, Refused, StoreError, StoreUnavailable, told

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_strangers = Rarely(log, "%d requests came without a valid token; the newest got %d")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@web.middleware
async def answering(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The log's line has no body and no query; strangers share one. A client may name its request itself, by
    X-Request-Id.
    """
    given = request.headers.get("X-Request-Id", "")
    request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
    began = time.monotonic()
    try:
        response = await handler(request)
    except HitlError as error:
        response = response_of(_problem(error, request_id))
    except (web.HTTPNotFound, web.HTTPMethodNotAllowed) as error:
        response = response_of(_unrouted(error))
    except Exception as error:
        response = response_of(_fault(error, request_id))
    took = (time.monotonic() - began) * 1000
    path = request.rel_url.raw_path[:200]
    if is_known(request):
        log.info("%s %s %s %d %.0f ms", request_id, request.method, path, response.status, took)
    else:
        _strangers.warn(response.status)
    response.headers.update(
        {
            "X-Request-Id": request_id,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
    )
    return response


def _problem(error: HitlError, request_id: str) -> Problem:
    """As the client is told of it: without an address or a key of the store."""
    match error:
        case Problem():
            return error
        case LeaseLost():
            return Problem("lease_lost", "This holder's lease has ended.")
        case Refused(code="cancelled" | "started" as code):
            return Problem(code, str(error))
        case Refused(code="busy"):
            again = "Others are changing this review at this very moment. Send it again."
            return Problem("busy", again, headers={"Retry-After": "1"})
        case StoreUnavailable():
            log.warning("%s: %s", request_id, error)
            away = "The store can't be reached now. Send it again in a moment: that is safe."
            return Problem("unavailable", away, headers={"Retry-After": "2"})
        case StoreError():
            log.error("%s: %s", request_id, error)
            refused = "The store refuses this. An operator must look at it."
            return Problem("unavailable", refused, headers={"Retry-After": "30"})
        case _:
            return _fault(error, request_id)


def _unrouted(error: web.HTTPNotFound | web.HTTPMethodNotAllowed) -> Problem:
    if isinstance(error, web.HTTPNotFound):
        return Problem("no_such_path", "There is nothing here. See /v1/openapi.json.")
    allowed = ", ".join(sorted(error.allowed_methods))
    return Problem("method_not_allowed", f"This path takes {allowed}.", headers={"Allow": allowed})


def _fault(error: Exception, request_id: str) -> Problem:
    log.error("%s failed: %s", request_id, told(error))
    return Problem("internal", f"Something failed here. The log has it as {request_id}.")
