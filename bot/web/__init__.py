"""The HTTP server: connections and their limits, bodies, probes, problems (RFC 9457)."""

from .connection_limits import open_more_files
from .connections import Connection
from .problems import PROBLEM_TYPES, ApiProblem, ProblemCode, invalid_at, to_response
from .requests import (
    BODY_TIMEOUT,
    BodyError,
    admit,
    connection_of,
    mark_authenticated,
    read_body,
    read_form,
    release_body,
)
from .server import LEAVING, make_app, open_server

__all__ = [
    "BODY_TIMEOUT",
    "LEAVING",
    "PROBLEM_TYPES",
    "ApiProblem",
    "BodyError",
    "Connection",
    "ProblemCode",
    "admit",
    "connection_of",
    "invalid_at",
    "make_app",
    "mark_authenticated",
    "open_more_files",
    "open_server",
    "read_body",
    "read_form",
    "release_body",
    "to_response",
]
