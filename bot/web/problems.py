"""Everything that the door may answer instead of what was asked, as RFC 9457 has it."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple

from aiohttp import web

from hitl_core.errors import DialectError, HitlError, InvalidToolCall

#: Stable: clients compare these.
ProblemCode = Literal[
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
    "args_changed",
    "lease_lost",
    "cancelled",
    "started",
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
    """`title` is the same for every problem of a code."""

    status: int
    title: str


PROBLEM_TYPES: dict[ProblemCode, ProblemType] = {
    "bad_json": ProblemType(400, "The body is no JSON that can be taken at its word"),
    "invalid": ProblemType(422, "A value is missing, unknown or wrong"),
    "unauthorized": ProblemType(401, "No valid token"),
    "no_policy_for_agent": ProblemType(403, "No policy for this agent"),
    "not_found": ProblemType(404, "No such review"),
    "no_such_call": ProblemType(404, "No such call in this review"),
    "no_such_path": ProblemType(404, "No such path"),
    "method_not_allowed": ProblemType(405, "Not this method here"),
    "too_slow": ProblemType(408, "The body did not arrive in time"),
    "conflict": ProblemType(409, "Submitted before with other arguments"),
    "not_settled": ProblemType(409, "People have not decided yet"),
    "not_allowed": ProblemType(409, "This call must not run"),
    "claimed_elsewhere": ProblemType(409, "Another holder has the review"),
    "in_doubt": ProblemType(409, "It is not known whether a call ran"),
    "args_changed": ProblemType(409, "Not what was decided"),
    "lease_lost": ProblemType(409, "The lease has ended"),
    "cancelled": ProblemType(409, "The review was cancelled"),
    "started": ProblemType(409, "Too late to cancel"),
    "done": ProblemType(409, "The review is done"),
    "too_large": ProblemType(413, "The body is too large"),
    "unsupported_media_type": ProblemType(415, "Not JSON"),
    "too_many": ProblemType(429, "Too many requests of agents are under way"),
    "internal": ProblemType(500, "A fault of the server"),
    "unavailable": ProblemType(503, "The store can't be used now"),
    "busy": ProblemType(503, "Others are changing this review"),
    "no_policy": ProblemType(503, "The server has no policy"),
}


class ApiProblem(HitlError):
    """What the client is told; the text is its `detail`. `pointer` leads to what is wrong in the body, None
    where that is not one value.
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
    """What the core says of a part of the body, as the client is told of it."""
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
        body=json.dumps(body).encode(),  # ASCII: half a surrogate pair in a key may be quoted
        status=status,
        headers=problem.headers,
        content_type="application/problem+json",
    )
