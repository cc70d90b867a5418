"""The committed OpenAPI document is up to date and true. Schemathesis sends the real server requests that the
document allows, and requests that it forbids.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import schemathesis
from aiohttp import web
from hypothesis import HealthCheck, settings
from schemathesis.core.errors import InvalidSchema
from schemathesis.specs.openapi.checks import positive_data_acceptance

from bot.api.agent_api import AgentApi
from bot.api.policies import Policies
from bot.api.routes import add_api
from bot.api.wire.openapi import build_document, document_text
from hitl_core.model import ToolCall
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from hitl_core.store.memory.store import MemoryStore
from tests.api.client import issue
from tests.api.conftest import serving
from tests.support.builders import approve_all, policy, review_of

COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"
SCHEMA = schemathesis.openapi.from_dict(build_document())


def test_the_committed_document_is_the_one_that_is_made():
    """When not: python -m bot.api.wire.openapi > docs/openapi.json"""
    assert COMMITTED.read_text("utf-8") == document_text()


def test_it_is_openapi_3_1():
    try:
        SCHEMA.validate()
    except InvalidSchema as error:
        pytest.fail(str(error))


def test_every_route_is_in_the_document():
    app = web.Application()
    add_api(app, AgentApi(MemoryStore(), Policies()))
    routes = {
        (route.method.lower(), route.resource.canonical)
        for route in app.router.routes()
        if route.method != "HEAD" and route.resource
    }

    paths = build_document()["paths"]

    assert routes == {(method, path) for path, methods in paths.items() for method in methods}


def test_everything_is_explained():
    """Each operation, answer and schema has a description."""
    made = build_document()
    for methods in made["paths"].values():
        for operation in methods.values():
            assert operation["summary"]
            assert all(answer.get("description") or "$ref" in answer
                       for answer in operation["responses"].values())  # fmt: skip
    assert all(schema["description"] for schema in made["components"]["schemas"].values())


class Server(NamedTuple):
    """A server in a thread of its own, since schemathesis's requests are not asynchronous."""

    url: str
    token: str
    ids: list[str]


@pytest.fixture(scope="module")
def server(redis_server: Any) -> Iterator[Server]:
    """With a pending, a settled and a done review."""
    ready, ended = threading.Event(), threading.Event()
    found: list[Server] = []

    async def serve() -> None:
        store = await RedisStore.open(redis_server.url)
        async with serving(store, Policies(policy())) as url:
            _, token = await issue(store)
            reviews, ids = Reviews(store), []
            for tool in ("ask", "ask", "look_up"):
                made = review_of([ToolCall("c1", tool, {"n": 1})], now=await store.now())
                ids.append((await reviews.submit(*made)).id)
            await approve_all(reviews, ids[1])
            found.append(Server(url, token, ids))
            ready.set()
            await asyncio.to_thread(ended.wait)
        await store.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(20)
        yield found[0]
    finally:
        ended.set()
        thread.join(20)


#: What a schema can't say, the server does: two calls of one id, and a list that is of two kinds.
UNSAID = ("POST /v1/reviews", "GET /v1/reviews")


@pytest.mark.slow
@SCHEMA.parametrize()
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_promise_10_the_server_does_what_the_document_says(case: Any, server: Server):
    """Whatever is asked: no 5xx, no status that the document does not have, no body of another shape, nothing
    refused that it allows, and nothing taken that it does not.
    """
    if "id" in case.path_parameters:
        ids = [*server.ids, "0-1"]
        case.path_parameters["id"] = ids[len(str(case.path_parameters["id"])) % len(ids)]
    if _is_a_wait(case.query.get("wait")):
        case.query["wait"] = 0
    case.call_and_validate(
        base_url=server.url,
        headers={"Authorization": f"Bearer {server.token}"},
        excluded_checks=[positive_data_acceptance] if case.operation.label in UNSAID else [],
    )


def _is_a_wait(value: object) -> bool:
    """One that the server would grant: there is no time for that."""
    try:
        return 0 < float(str(value)) <= 60
    except ValueError:
        return False
