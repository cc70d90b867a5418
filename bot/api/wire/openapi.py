"""The API as an OpenAPI 3.1 document, made from the wire models.

python -m bot.api.wire.openapi > docs/openapi.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from ...web import PROBLEM_TYPES, ProblemCode
from .operations import OPERATIONS, Operation
from .responses import ProblemOut

Json = dict[str, Any]

#: Increase the second number for a new key or route, the first for a change that breaks clients.
VERSION = "1.1"

DESCRIPTION = """
Human approval for AI agents' tool calls. An agent submits the tool calls of one model turn, waits until
people have decided in their chat, calls `once` before it runs each call, and calls `done` at the end. An
agent whose framework raises interrupts submits the interrupt unchanged, and resumes it with `resume`,
which is in that framework's own format. People decide in their chat: no request of this API decides.

A token belongs to one agent and sees only its reviews. A body may have at most 4 MiB and 20,000 JSON
values, and 8 seconds to arrive. There is no rate limit: put a proxy with one in front. There are no
CORS headers: never use a token in a browser. Every error is a problem (RFC 9457) with a stable `code`,
and the request then changed nothing. Every request can be repeated if its answer was lost: with an
`Idempotency-Key`, `once` and `done` then give the same answer again.
""".strip()

_ID_PARAMETER: Json = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "example": "0-7d0f1f6a3a7c4b8f9e2d5c6b1a0f4e3d",
}
_KEY_HEADER: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The client's own id of this operation. A repeated request with the same key gets the"
    " same answer, also `run: true`. Use a new random key for each operation: with one made of ids, a process"
    " that is restarted would run the call again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}
_TOKEN_SCHEME: Json = {
    "type": "http",
    "scheme": "bearer",
    "description": "`hitl_<id>_<secret>`, created with `hitl tokens create`.",
}
_DOCUMENT_ROUTE: Json = {
    "summary": "This document",
    "security": [],
    "responses": {"200": {"description": "OpenAPI 3.1.", "content": {"application/json": {}}}},
}
_COMMON_PROBLEMS: Sequence[ProblemCode] = (
    "bad_request",
    "unauthorized",
    "too_many",
    "internal",
    "unavailable",
)


def build_document() -> Json:
    """The document as a JSON value."""
    paths: Json = {}
    for each in OPERATIONS:
        paths.setdefault(each.path, {})[each.method] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {"title": "hitl", "version": VERSION, "description": DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": {**paths, "/v1/openapi.json": {"get": _DOCUMENT_ROUTE}},
        "components": {
            "securitySchemes": {"token": _TOKEN_SCHEME},
            "schemas": _schemas(),
            "responses": {code: _problem_response(code) for code in PROBLEM_TYPES},
        },
    }


def _operation(each: Operation) -> Json:
    operation: Json = {"summary": each.summary}
    parameters = [_ID_PARAMETER] if "{id}" in each.path else []
    parameters += _query_parameters(each.query) if each.query else []
    parameters += [_KEY_HEADER] if each.takes_key else []
    if parameters:
        operation["parameters"] = parameters
    if each.bodies:
        examples = {shape.__name__: {"value": value} for shape, value in each.bodies.items()}
        content = {"schema": _schema(*each.bodies), "examples": examples}
        body = {"required": each.body_required, "content": {"application/json": content}}
        operation["requestBody"] = body
    operation["responses"] = {
        str(status): answer for status, answer in sorted(_responses(each).items())
    }
    return operation


def _responses(each: Operation) -> dict[int, Json]:
    responses: dict[int, Json] = {}
    for status, (description, *shapes) in each.responses.items():
        content = {"application/json": {"schema": _schema(*shapes)}}
        responses[status] = {"description": description, "content": content}
    codes: dict[int, list[ProblemCode]] = {}
    for code in (*_COMMON_PROBLEMS, *each.problems):
        codes.setdefault(PROBLEM_TYPES[code].status, []).append(code)
    return responses | {status: _problem_responses(several) for status, several in codes.items()}


def _problem_responses(codes: Sequence[ProblemCode]) -> Json:
    """One entry for each status. A status may have several codes."""
    if len(codes) == 1:
        return _ref("responses", codes[0])
    titles = "; ".join(f"`{code}`: {PROBLEM_TYPES[code].title}" for code in codes)
    return {**_problem_response(codes[0]), "description": f"{titles}."}


def _problem_response(code: ProblemCode) -> Json:
    status, title = PROBLEM_TYPES[code]
    response: Json = {
        "description": f"`{code}`: {title}.",
        "content": {"application/problem+json": {"schema": _ref("schemas", "ProblemOut")}},
    }
    text: Json = {"schema": {"type": "string"}}
    if status == 401:
        response["headers"] = {"WWW-Authenticate": {"description": "RFC 6750.", **text}}
    if status in (429, 503):
        response["headers"] = {"Retry-After": {"description": "Seconds.", **text}}
    return response


def _query_parameters(shape: type[BaseModel]) -> list[Json]:
    schema = shape.model_json_schema(schema_generator=_UntitledSchema)
    parameters: list[Json] = []
    for name, each in schema["properties"].items():
        description = {"description": each.pop("description")} if "description" in each else {}
        if "anyOf" in each:  # a value or null: a query has no null
            each = each["anyOf"][0]
        parameters.append({"name": name, "in": "query", **description, "schema": each})
    return parameters


def _schemas() -> Json:
    """The schemas of all request and response models and their parts."""
    bodies = {shape for each in OPERATIONS for shape in each.bodies}
    answers = {s for each in OPERATIONS for _, *shapes in each.responses.values() for s in shapes}
    answers.add(ProblemOut)
    shapes: Sequence[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [
        *((body, "validation") for body in sorted(bodies, key=str)),
        *((answer, "serialization") for answer in sorted(answers, key=str)),
    ]
    template = "#/components/schemas/{model}"
    _, schemas = models_json_schema(shapes, schema_generator=_UntitledSchema, ref_template=template)
    return schemas["$defs"]


def _schema(*shapes: type[BaseModel]) -> Json:
    refs = [_ref("schemas", shape.__name__) for shape in shapes]
    return refs[0] if len(refs) == 1 else {"oneOf": refs}


def _ref(kind: str, name: str) -> Json:
    return {"$ref": f"#/components/{kind}/{name}"}


class _UntitledSchema(GenerateJsonSchema):
    """Without titles for fields, which would only repeat their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def document_text() -> str:
    """The text of docs/openapi.json."""
    return json.dumps(build_document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document_text())
