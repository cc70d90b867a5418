"""Promise 10 at the HTTP API: a wrong request gets one clear sentence, and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from bot.api.policies import Policies
from bot.web.problems import PROBLEM_TYPES
from hitl_core.store import RedisStore
from hitl_core.store.redis.keys import TOKENS_KEY
from tests.api.client import Client, issue, tool_call
from tests.api.conftest import SECRET, Open

pytestmark = pytest.mark.usefixtures("nothing_stored")


BAD_TURNS: list[tuple[Any, str, str]] = [
    ({"calls": [tool_call()]}, "/thread_id", "missing"),
    ({"thread_id": "", "calls": [tool_call()]}, "/thread_id", "at least 1"),
    ({"thread": "t", "calls": [tool_call()]}, "/thread_id", "and 'thread' is not a key here"),
    ({"thread_id": 7, "calls": [tool_call()]}, "/thread_id", "must be text"),
    ({"thread_id": "t\ud800", "calls": [tool_call()]}, "/thread_id", "half a surrogate pair"),
    ({"thread_id": "t", "calls": []}, "/calls", "at least 1"),
    ({"thread_id": "t", "calls": {}}, "/calls", "must be a list"),
    ({"thread_id": "t", "calls": [tool_call()], "colour": 1}, "/colour", "key is not allowed"),
    ({"thread_id": "t", "calls": [tool_call()], "a/b~c": 1}, "/a~1b~0c", "key is not allowed"),
    (
        {"thread_id": "t", "calls": [tool_call(), {"id": "c2", "name": "x"}]},
        "/calls/1/args",
        "This is missing.",
    ),
    (  # the key of another API
        {"thread_id": "t", "calls": [{"id": "c2", "name": "x", "arguments": {}}], "colour": 1},
        "/calls/0/args",
        "and 'arguments' is not a key here",
    ),
    ({"thread_id": "t", "calls": [tool_call(name="a b")]}, "/calls/0/name", "pattern"),
    ({"thread_id": "t", "calls": [tool_call(name="x\n")]}, "/calls/0/name", "pattern"),
    ({"thread_id": "t", "calls": [tool_call(name="x" * 129)]}, "/calls/0/name", "pattern"),
    ({"thread_id": "t", "calls": [tool_call(id="")]}, "/calls/0/id", "at least 1"),
    ({"thread_id": "t", "calls": [tool_call(id="c" * 257)]}, "/calls/0/id", "at most 256"),
    (
        {"thread_id": "t", "calls": [{**tool_call(), "args": [1]}]},
        "/calls/0/args",
        "must be an object",
    ),
    ({"thread_id": "t", "calls": [tool_call(), tool_call()]}, "/calls", "the id 'c1'"),
    ({"thread_id": "t", "calls": [tool_call(a="\ud800")]}, "/calls/0/args", "surrogate"),
    ({"thread_id": "t", "calls": [{**tool_call(), "args": {"\ud800": 1}}]}, "/calls/0/args", ""),
    ({"thread_id": "t", "calls": [tool_call(a="x" * 262_144)]}, "/calls/0/args", "262,144"),
    ({"thread_id": "t", "calls": [tool_call(f"c{n}") for n in range(101)]}, "/calls", "100"),
    ({"thread_id": "t", "calls": [tool_call()], "turn": ""}, "/turn", "at least 1"),
    ({"thread_id": "t", "calls": [tool_call()], "requester": {}}, "/requester", "must be text"),
    (  # of many tools, the wrong one is named
        {"thread_id": "t", "calls": [tool_call()], "tools": {"a": None, "ask": {"type": "x"}}},
        "/tools",
        "The schema of the tool ask can't be used: ",
    ),
    (
        {"thread_id": "t", "calls": [tool_call()], "origin": "C1"},
        "/origin",
        "must be a thread such as",
    ),
]


@pytest.mark.parametrize(("body", "pointer", "words"), BAD_TURNS)
async def test_promise_10_what_is_wrong_is_named(
    client: Client, body: Any, pointer: str, words: str
):
    reply = await client.post("/v1/reviews", body)

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith(f"{pointer}")
    assert words in reply.body["detail"]


BAD_QUERIES = [
    ("/v1/reviews", ""),
    ("/v1/reviews?thread_id=t&status=settled", ""),
    ("/v1/reviews?status=pending", "status: "),
    ("/v1/reviews?thread_id=", "thread_id: "),
    ("/v1/reviews?thread_id=t&wait=1", "wait: "),
    ("/v1/reviews?status=settled&limit=101", "limit: "),
    ("/v1/reviews?status=settled&limit=0", "limit: "),
    ("/v1/reviews?status=settled&colour=1", "colour: "),
    ("/v1/reviews/0-1?wait=61", "wait: "),
    ("/v1/reviews/0-1?wait=-1", "wait: "),
    ("/v1/reviews/0-1?wait=x", "wait: This must be a number."),
    ("/v1/reviews?status=settled&limit=x", "limit: This must be a whole number."),
    ("/v1/reviews/0-1?wait=nan", "wait: "),
    ("/v1/reviews/0-1?wait=1&wait=2", "wait: "),
]


@pytest.mark.parametrize(("path", "text"), BAD_QUERIES)
async def test_promise_10_a_wrong_query_is_named(client: Client, path: str, text: str):
    reply = await client.get(path)

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith(text)


@pytest.mark.parametrize("key", [" " * 2, "k" * 256, "a b", "ä"])
async def test_a_key_has_bounds(client: Client, key: str):
    body = b'{"tool_call_id": "c1"}'
    reply = await client.send(
        "POST",
        "/v1/reviews/0-1/once",
        body,
        Content_Type="application/json",
        Idempotency_Key=key,
    )

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith("Idempotency-Key: ")


METHODS = [
    ("DELETE", "/v1/reviews", "GET, HEAD, POST"),
    ("OPTIONS", "/v1/reviews", "GET, HEAD, POST"),
    ("PUT", "/v1/reviews/0-1", "GET, HEAD"),
    ("GET", "/v1/reviews/0-1/once", "POST"),
    ("GET", "/v1/reviews/0-1/cancel", "POST"),
    ("POST", "/v1/openapi.json", "GET, HEAD"),
]


@pytest.mark.parametrize(("method", "path", "allowed"), METHODS)
async def test_another_method_is_told_which_there_are(
    client: Client, method: str, path: str, allowed: str
):
    reply = await client.send(method, path, Origin="https://evil.example")

    assert (reply.status, reply.code) == (405, "method_not_allowed")
    assert reply.headers["Allow"] == allowed
    assert not [name for name in reply.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v1/nothing", "/v1/reviews/", "/v1/reviews/a/b/c"]
)
async def test_an_unknown_path_is_a_problem_too(client: Client, path: str):
    reply = await client.get(path)

    assert (reply.status, reply.code) == (404, "no_such_path")


async def test_every_answer_is_for_its_client_alone(client: Client):
    """Nothing on the way keeps it, and its name leads to one line of the log."""
    for path, name in [("/v1/openapi.json", "r-1"), ("/v1/reviews/0-1", "r-2"), ("/v1/x", "r-3")]:
        reply = await client.send("GET", path, X_Request_Id=name)
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["X-Request-Id"] == name
    bad = await client.send("GET", "/v1/x", X_Request_Id="a b\tc")
    assert bad.headers["X-Request-Id"] != "a b\tc"


async def test_the_log_has_a_line_a_request_and_no_body(
    client: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """What comes without a token is counted in one line: anybody may send it."""
    monkeypatch.setattr("bot.logs.INTERVAL", 0.0)
    await client.submit(tool_call(name="drop_table", x=SECRET), thread=SECRET, turn="")
    await client.get(f"/v1/reviews?thread_id={SECRET}")
    await client.send("GET", "/v1/%0Aforged%20line", X_Request_Id="mine")

    lines = [r.getMessage() for r in caplog.records if r.name == "bot.api.error_responses"]
    assert len(lines) == 3
    assert " POST /v1/reviews 422 " in lines[0]
    assert " GET /v1/reviews 200 " in lines[1]
    assert lines[2].endswith(" requests came without a valid token; the newest got 404")


async def test_a_fault_of_ours_is_told_without_its_words(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("HITL_FAILPOINTS", "api.before_submit=raise")

    reply = await client.submit(tool_call())

    assert (reply.status, reply.code) == (500, "internal")
    assert "before_submit" not in str(reply.body)
    assert reply.headers["X-Request-Id"] in reply.body["detail"]
    assert f"{reply.headers['X-Request-Id']} failed: FailpointError at " in caplog.text


async def test_without_a_policy_the_operator_is_told_what_to_set(open_api: Open):
    client = await open_api(policies=Policies())

    reply = await client.submit(tool_call())

    assert (reply.status, reply.code) == (503, "no_policy")
    assert "HITL_POLICY" in reply.body["detail"]


async def test_an_agent_without_a_policy_is_told_which_file_is_missing(open_api: Open):
    client = await open_api(agent="../other", policies=Policies(by_agent={}))

    reply = await client.submit(tool_call())

    assert (reply.status, reply.code) == (403, "no_policy_for_agent")
    assert "../other.yaml" in reply.body["detail"]


async def test_every_problem_says_where_it_is_explained(client: Client):
    """Its type leads into the document."""
    problem = (await client.get("/v1/reviews/0-1")).body
    document = (await client.get("/v1/openapi.json")).body
    path, _, pointer = problem["type"].partition("#")
    found = document
    for part in pointer.split("/")[1:]:
        found = found[part]

    assert path == "/v1/openapi.json"
    assert found["description"] == f"`{problem['code']}`: {problem['title']}."
    assert set(document["components"]["responses"]) == set(PROBLEM_TYPES)


async def test_tokens_of_the_same_agent_are_separate(client: Client, store: RedisStore):
    """Given two tokens of an agent; when one is revoked, then the other still opens."""
    second, text = await issue(store)
    await store.drop_token(second.id)

    assert (await client.get("/v1/reviews?status=settled")).status == 200
    client.token = text
    assert (await client.get("/v1/reviews?status=settled")).status == 401


async def test_requests_without_a_token_fill_no_log_while_the_store_fails(
    client: Client, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a store that refuses to read tokens; then anybody who sends something like one causes a line a
    minute, and not one each time."""
    with redis.Redis.from_url(redis_url) as store:
        store.delete(TOKENS_KEY)
        store.set(TOKENS_KEY, "x", ex=60)
    caplog.clear()
    fake = Client(client.session, client.url, f"hitl_{'0' * 12}_{'a' * 43}")

    answers = [await fake.get("/v1/reviews?status=settled") for _ in range(20)]

    assert {answer.status for answer in answers} == {503}
    assert len([one for one in caplog.records if one.name.startswith("bot.api")]) <= 3
