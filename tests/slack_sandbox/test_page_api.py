"""The API of the page: the state, the stream, messages of people and of the agent, and injected faults."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from slack_sandbox.workspace.acme import DEFAULT_SCOPES
from tests.slack_sandbox.samples import HERE, Slack, actions, button, error_of

ROOT = Path(__file__).parents[2]


async def test_the_page_is_served(sandbox: Sandbox) -> None:
    kinds = {"/": "text/html", "/page.css": "text/css", "/page.js": "javascript"}
    async with aiohttp.ClientSession() as session:
        for path, kind in kinds.items():
            async with session.get(sandbox.url + path) as response:
                assert response.status == 200
                assert kind in response.headers["Content-Type"]


async def test_a_person_sees_what_they_may_see(actor: Actor, client: Slack) -> None:
    head = (await client.chat_postMessage(channel=HERE, text="head", blocks=[actions(button())]))[
        "ts"
    ]
    await client.chat_postMessage(channel=HERE, text="reply", thread_ts=head)
    alice, dana, guest = [await actor.state(user) for user in ("U0ALICE", "U0DANA", "U0GUEST")]
    assert alice["me"] == "U0ALICE"
    assert alice["team"] == {"id": "T0ACME", "name": "Acme"}
    assert alice["agent"] == {"name": "support-agent", "asks": False}
    names = {one["name"]: one["is_member"] for one in alice["channels"]}
    assert names["agent-approvals"]
    assert not names["team-ops"]
    assert "board" not in names
    assert "board" in {one["name"] for one in dana["channels"]}
    assert guest["channels"] == []
    first, second = alice["messages"][HERE]
    assert (first["text"], first["reply_count"], first["bot"]) == ("head", 1, True)
    assert (second["text"], second["thread_ts"]) == ("reply", head)
    assert first["blocks"][0]["block_id"]


async def test_every_change_is_streamed_until_what_was_awaited_is_seen(
    actor: Actor, client: Slack
) -> None:
    waiting = asyncio.create_task(
        actor.wait_for(lambda s: [m for m in s["messages"][HERE] if m["text"] == "three"])
    )
    for text in ("one", "two", "three"):
        await client.chat_postMessage(channel=HERE, text=text)
    assert [one["text"] for one in await waiting] == ["three"]


async def test_what_does_not_come_is_a_timeout_that_shows_the_state(actor: Actor) -> None:
    with pytest.raises(TimeoutError, match="agent-approvals"):
        await actor.wait_for(lambda s: s["messages"][HERE], timeout=0.1)


async def test_the_agent_gets_what_a_person_answers(sandbox: Sandbox, actor: Actor) -> None:
    heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def listen(request: web.Request) -> web.Response:
        heard.put_nowait(await request.json())
        return web.Response()

    app = web.Application()
    app.router.add_post("/ask", listen)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sandbox.ask_url = f"http://127.0.0.1:{runner.addresses[0][1]}/ask"
    await actor.say("U0MARIA", HERE, "not for the agent")
    answer = await actor.say("U0MARIA", "C0ASK", "refund <1042> & tell Jo")
    question = await asyncio.wait_for(heard.get(), 30)
    await runner.cleanup()
    assert question == {
        "user": "U0MARIA",
        "text": "refund <1042> & tell Jo",
        "channel": "C0ASK",
        "ts": answer["ts"],
    }
    (message,) = await actor.messages("C0ASK")
    assert (message["text"], message["bot"]) == ("refund &lt;1042&gt; &amp; tell Jo", False)


async def test_who_asks_an_agent_that_is_not_running_is_told(
    sandbox: Sandbox, actor: Actor
) -> None:
    sandbox.ask_url = "http://127.0.0.1:1/nobody"
    await actor.say("U0MARIA", "C0ASK", "hello?")
    (notice,) = await actor.wait_for(lambda s: s["ephemerals"], user="U0MARIA")
    assert "not running" in notice["text"]
    assert await actor.ephemerals("U0ALICE") == []


async def test_where_a_person_can_not_write(actor: Actor) -> None:
    for user, channel in (("U0ALICE", "C0OPS"), ("U0ALICE", "C0OLD"), ("U0ALICE", "G0BOARD")):
        assert not (await actor.say(user, channel, "x"))["ok"]
    assert not (await actor.say("U0ALICE", HERE, " "))["ok"]


async def test_the_agent_speaks_for_itself(actor: Actor) -> None:
    message = await actor.say_as_agent("I am on it")
    await actor.say_as_agent("done", thread_ts=message["ts"])
    first, second = await actor.messages("C0ASK")
    assert (first["username"], first["bot"], first["text"]) == ("support-agent", True, "I am on it")
    assert second["thread_ts"] == message["ts"]


async def test_troubles_come_as_ordered_and_end(actor: Actor, client: Slack) -> None:
    await actor.inject_fault("invalid_blocks", method="chat.postMessage", times=1)
    await client.auth_test()
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=HERE, text="x")
    assert error_of(caught) == "invalid_blocks"
    await client.chat_postMessage(channel=HERE, text="y")

    await actor.inject_fault("ratelimited", retry_after=7)
    with pytest.raises(SlackApiError) as caught:
        await client.auth_test()
    assert caught.value.response.headers["Retry-After"] == "7"
    await actor.inject_fault("ok")
    await client.auth_test()
    assert [one["text"] for one in await actor.messages(HERE)] == ["y"]


async def test_a_lost_answer_leaves_the_thing_done(sandbox: Sandbox, actor: Actor) -> None:
    await actor.inject_fault("ok_but_reset", method="chat.postMessage", times=1)
    headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        with pytest.raises(aiohttp.ClientError):
            await session.post(
                sandbox.api_url + "chat.postMessage", json={"channel": HERE, "text": "kept"}
            )
    assert [one["text"] for one in await actor.messages(HERE)] == ["kept"]


async def test_a_server_error_and_a_call_that_hangs(sandbox: Sandbox, actor: Actor) -> None:
    await actor.inject_fault("http_500", times=1)
    await actor.inject_fault("hang", times=1)
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {BOT_TOKEN}"}) as session:
        url, body = sandbox.api_url + "chat.postMessage", {"channel": HERE, "text": "x"}
        async with session.post(url, json=body) as response:
            assert response.status == 500
        with pytest.raises(TimeoutError):
            await session.post(url, json=body, timeout=aiohttp.ClientTimeout(total=0.1))
    assert await actor.messages(HERE) == []


async def test_every_call_is_on_record_without_the_token(actor: Actor, client: Slack) -> None:
    await client.chat_postMessage(channel=HERE, text="x")
    with pytest.raises(SlackApiError):
        await client.chat_postMessage(channel="C0NOWHERE", text="x")
    good, bad = await actor.calls("chat.postMessage")
    assert (good["args"]["text"], good["error"]) == ("x", None)
    assert bad["error"] == "channel_not_found"
    assert BOT_TOKEN not in json.dumps(await actor.calls())


async def test_an_unknown_trouble_is_named(actor: Actor) -> None:
    with pytest.raises(Exception, match="mode must be one of ok, hang"):
        await actor.inject_fault("earthquake")


def test_the_scopes_are_those_of_the_manifest() -> None:
    yaml = pytest.importorskip("yaml")
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text())
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == DEFAULT_SCOPES


async def test_it_runs_as_a_program_and_ends_when_told() -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "slack_sandbox", "--port", "0", "--bot-token", "xoxb-mine"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert program.stdout
    line = (await asyncio.wait_for(program.stdout.readline(), 20)).decode()
    api_url = line.split("SLACK_API_URL=")[1].strip()
    assert (await AsyncWebClient("xoxb-mine", base_url=api_url).auth_test())["ok"]
    program.terminate()
    assert await asyncio.wait_for(program.wait(), 30) == 0


async def test_a_port_that_is_taken_is_one_sentence(sandbox: Sandbox) -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "slack_sandbox", "--port", sandbox.url.rsplit(":", 1)[1]),
        cwd=ROOT,
        stderr=asyncio.subprocess.PIPE,
    )
    _, reason = await asyncio.wait_for(program.communicate(), 20)
    assert program.returncode == 1
    assert reason.startswith(b"sandbox: ")
    assert b"address already in use" in reason
    assert b"Traceback" not in reason
