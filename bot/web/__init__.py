"""The HTTP server: connections and their limits, bodies, probes, problems (RFC 9457)."""

from .application import LEAVING, make_app
from .authentication import admit, is_authenticated, mark_authenticated
from .body import BODY_TIMEOUT, BodyError, read_body
from .connection_limit import open_more_files
from .problems import PROBLEM_TYPES, ApiProblem, ProblemCode, invalid_at, to_response
from .server import open_server
from .urlencoded import read_form

__all__ = [
    "BODY_TIMEOUT",
    "LEAVING",
    "PROBLEM_TYPES",
    "ApiProblem",
    "BodyError",
    "ProblemCode",
    "admit",
    "invalid_at",
    "is_authenticated",
    "make_app",
    "mark_authenticated",
    "open_more_files",
    "open_server",
    "read_body",
    "read_form",
    "to_response",
]
