"""The error responses of the HTTP API, as problems (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple

from aiohttp import web

from hitl_core.errors import DialectError, HitlError, InvalidToolCall

#: Stable: clients compare these codes.
ProblemCode = Literal[
    "bad_request",
    "bad_json",
    "invalid",
    "unauthorized",
    "no_policy_for_agent",
    "not_found",
    "no_such_call",
    "no_such_path",
    "method_not_allowed",
    "too_slow",
    "conflict",
    "not_settled",
    "not_allowed",
    "claimed_elsewhere",
    "in_doubt",
    "held",
    "args_changed",
    "lease_lost",
    "cancelled",
    "started",
    "no_result",
    "done",
    "too_large",
    "unsupported_media_type",
    "too_many",
    "internal",
    "unavailable",
    "busy",
    "no_policy",
]


class ProblemType(NamedTuple):
    """The status and title of all problems with one code."""

    status: int
    title: str


PROBLEM_TYPES: dict[ProblemCode, ProblemType] = {
    "bad_request": ProblemType(400, "The request is not valid HTTP"),
    "bad_json": ProblemType(400, "The body is not valid, unambiguous JSON"),
    "invalid": ProblemType(422, "A value is missing, unknown or wrong"),
    "unauthorized": ProblemType(401, "No valid token"),
    "no_policy_for_agent": ProblemType(403, "No policy for this agent"),
    "not_found": ProblemType(404, "No such review"),
    "no_such_call": ProblemType(404, "No such call in this review"),
    "no_such_path": ProblemType(404, "No such path"),
    "method_not_allowed": ProblemType(405, "Method not allowed"),
    "too_slow": ProblemType(408, "The body did not arrive in time"),
    "conflict": ProblemType(
        409,
        "This turn was submitted before with other calls or arguments, or for another requester",
    ),
    "not_settled": ProblemType(409, "People have not decided yet"),
    "not_allowed": ProblemType(409, "This call must not run"),
    "claimed_elsewhere": ProblemType(409, "Another holder has claimed the review"),
    "in_doubt": ProblemType(409, "It is not known whether a call ran"),
    "held": ProblemType(409, "The store lost data, and an operator must release the review"),
    "args_changed": ProblemType(409, "The tool or arguments are not those that were decided"),
    "lease_lost": ProblemType(409, "The lease has ended"),
    "cancelled": ProblemType(409, "The review was cancelled"),
    "started": ProblemType(409, "A call has started: too late to cancel"),
    "no_result": ProblemType(
        409, "A call was started or is to run again, and its result is missing"
    ),
    "done": ProblemType(409, "The review is done"),
    "too_large": ProblemType(413, "The body is too large"),
    "unsupported_media_type": ProblemType(415, "The body is not plain JSON"),
    "too_many": ProblemType(429, "Too many requests of agents are in progress"),
    "internal": ProblemType(500, "Internal error of the server"),
    "unavailable": ProblemType(503, "The store can't be used at the moment"),
    "busy": ProblemType(503, "The review is being changed by other requests"),
    "no_policy": ProblemType(503, "The server has no policy"),
}


class ApiProblem(HitlError):
    """An error response; the text is its `detail`. `pointer` is the JSON Pointer of the wrong value in the
    body, None if it is not one value.
    """

    def __init__(
        self,
        code: ProblemCode,
        detail: str,
        *,
        pointer: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{pointer}: {detail}" if pointer else detail)
        self.code: ProblemCode = code
        self.headers = dict(headers or {})


@contextmanager
def invalid_at(pointer: str) -> Generator[None, None, None]:
    """Turns the core's errors about a part of the body into problems with this pointer."""
    try:
        yield
    except (InvalidToolCall, DialectError) as error:
        raise ApiProblem("invalid", str(error), pointer=pointer) from error


def to_response(problem: ApiProblem) -> web.Response:
    status, title = PROBLEM_TYPES[problem.code]
    body = {
        "type": f"/v1/openapi.json#/components/responses/{problem.code}",
        "title": title,
        "status": status,
        "detail": str(problem),
        "code": problem.code,
    }
    return web.Response(
        body=json.dumps(body).encode(),  # ASCII, because the detail may quote half a surrogate pair
        status=status,
        headers=problem.headers,
        content_type="application/problem+json",
    )
