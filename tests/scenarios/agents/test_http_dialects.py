"""Agents that interrupt in the format of their own framework, people in Slack: the interrupt is sent
unchanged as JSON, and the answer can resume that framework.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hitl_core.store import RedisStore
from tests.api.client import Client
from tests.scenarios.agents.test_http_agents import HttpAgents
from tests.support.bots import CANARY, ROOT, Scene
from tests.support.processes.node import langchain_js
from tests.support.slack import buttons

Json = dict[str, Any]
TO = f"{CANARY}@example.com"
ARGS = [{"to": TO, "copies": number} for number in (1, 2, 3)]
EDITED = {"to": TO, "copies": 9}
THREE = ["approve", "edit", "reject"]


@pytest.fixture
async def client(scene: Scene) -> AsyncIterator[Client]:
    """Of the agent `crm`, at a bot of its own."""
    store = await RedisStore.open(scene.redis_url)
    async with aiohttp.ClientSession() as session:
        agents = HttpAgents(scene, store, session)
        yield await agents.client(await agents.bot())
    await store.close()


async def post_interrupt(client: Client, interrupt: Any, **more: Any) -> str:
    body = {"thread_id": "t-1", "turn": "m1", "interrupt": interrupt, **more}
    reply = await client.post("/v1/reviews", body)
    assert reply.status == 201, reply
    return reply.body["id"]


async def approve_edit_reject(scene: Scene) -> None:
    """Alice approves the first call, edits the second to nine copies, and rejects the third."""
    card = await scene.card("send_email")
    assert len(buttons(card, "reject")) == 3
    await scene.alice.press(card, "approve", 1)
    await scene.alice.press(card, "edit", 2)
    assert (await scene.alice.submit(copies=9))["ok"]
    await scene.alice.press(card, "reject", 3)
    assert (await scene.alice.submit(message="Not to her"))["ok"]


SNAKE: Json = {
    "action_requests": [{"name": "send_email", "args": args} for args in ARGS],
    "review_configs": [{"action_name": "send_email", "allowed_decisions": THREE}] * 3,
}
CAMEL: Json = {
    "actionRequests": [
        {"name": "send_email", "args": args, "description": "Please look"} for args in ARGS
    ],
    "reviewConfigs": [{"actionName": "send_email", "allowedDecisions": THREE}] * 3,
}
PER_CALL: list[Json] = [
    {
        "id": f"i{number}",
        "value": {
            "type": "tool_approval",
            "tool_call_id": f"c{number}",
            "name": "send_email",
            "args": args,
        },
    }
    for number, args in enumerate(ARGS, start=1)
]
SAGENTS: Json = {
    "action_requests": [
        {"tool_call_id": f"c{number}", "tool_name": "send_email", "arguments": args}
        for number, args in enumerate(ARGS, start=1)
    ],
    "review_configs": {"send_email": {"allowed_decisions": THREE}},
    "hitl_tool_call_ids": ["c1", "c2", "c3"],
}
IN_CAMEL = {
    "decisions": [
        {"type": "approve"},
        {"type": "edit", "editedAction": {"name": "send_email", "args": EDITED}},
        {"type": "reject", "message": "Not to her"},
    ]
}
IN_SNAKE = {
    "decisions": [
        {"type": "approve"},
        {"type": "edit", "edited_action": {"name": "send_email", "args": EDITED}},
        {"type": "reject", "message": "Not to her"},
    ]
}


@pytest.mark.parametrize(
    ("name", "interrupt", "resume"),
    [
        ("langchain", SNAKE, IN_SNAKE),
        (
            "langchain_per_call",
            PER_CALL,
            dict(zip(("i1", "i2", "i3"), IN_SNAKE["decisions"], strict=True)),
        ),
        ("langchain_js", CAMEL, IN_CAMEL),
        ("xpertai", CAMEL, IN_CAMEL),
        (
            "sagents",
            SAGENTS,
            [{"type": "approve"}, {"type": "edit", "arguments": EDITED}, {"type": "reject"}],
        ),
    ],
)
async def test_promise_8_an_interrupt_is_decided_in_slack_and_answered_in_its_own_words(
    scene: Scene, client: Client, name: str, interrupt: Any, resume: Any
):
    """Given the interrupt of each system about three calls; when Alice approves one, edits one and rejects
    one; then the client that waits gets exactly what that system accepts."""
    which = {"dialect": name} if name == "xpertai" else {}
    id = await post_interrupt(client, interrupt, **which)
    waiting = asyncio.create_task(client.read(id, wait=60))

    await approve_edit_reject(scene)

    async with asyncio.timeout(30):
        review = await waiting
    assert (review["dialect"], review["resume"]) == (name, resume)
    await client.done(id)
    await scene.card("edited and approved by U0ALICE", "Not to her")


async def test_agent_inbox(scene: Scene, client: Client):
    """Given four interrupts in a list; when each is decided in another way; then each has a response."""
    config = {f"allow_{flag}": True for flag in ("accept", "edit", "respond", "ignore")}
    request = {"action": "send_email", "args": ARGS[0]}
    id = await post_interrupt(client, [{"action_request": request, "config": config}] * 4)
    card = await scene.card("send_email")
    assert not buttons(card, "reject")

    await scene.alice.press(card, "approve", 1)
    await scene.alice.press(card, "edit", 2)
    assert (await scene.alice.submit(copies=9))["ok"]
    await scene.alice.press(card, "more", 3, option="Answer instead of running it")
    assert (await scene.alice.submit(message="I called her"))["ok"]
    await scene.alice.press(card, "more", 4, option="Skip it")

    review = await client.read(id, wait=10)
    assert review["resume"] == [
        {"type": "accept", "args": request},
        {"type": "edit", "args": {**request, "args": EDITED}},
        {"type": "response", "args": "I called her"},
        {"type": "ignore", "args": None},
    ]


async def test_arcgis(scene: Scene, client: Client):
    """Given two questions of an agent of ArcGIS; when Alice says yes to one and no to the other; then each
    has a payload."""
    delete, zoom = (
        {
            "id": id,
            "agentId": "map",
            "kind": "booleanChoice",
            "message": message,
            "metadata": {"toolName": tool, "args": {}},
        }
        for id, tool, message in [
            ("i1", "deleteLayer", "Delete the layer?"),
            ("i2", "zoomTo", "Zoom in?"),
        ]
    )
    id = await post_interrupt(client, [delete, zoom])
    card = await scene.card("Delete the layer?", "Zoom in?")

    await scene.alice.press(card, "reject", 1)
    await scene.alice.submit()
    await scene.alice.press(card, "approve", 2)

    review = await client.read(id, wait=10)
    assert review["resume"] == [
        {"id": "i1", "agentId": "map", "payload": False},
        {"id": "i2", "agentId": "map", "payload": True},
    ]


async def test_promise_1_what_the_policy_denies_is_on_the_card_and_asks_nobody(
    scene: Scene, client: Client
):
    """Given an interrupt about a tool that the policy denies; then it is answered at once, and people see
    that the agent wanted it."""
    denied = {
        "actionRequests": [{"name": "drop_all", "args": {}}],
        "reviewConfigs": [{"actionName": "drop_all", "allowedDecisions": THREE}],
    }

    review = await client.read(await post_interrupt(client, denied))

    [decision] = review["resume"]["decisions"]
    assert decision["type"] == "reject"
    assert "The policy doesn't allow `drop_all`" in decision["message"]
    card = await scene.card("drop_all", "rejected by The policy")
    assert not buttons(card, "approve")


# ------------------------------------------------------------------------------- the real LangChain JS


@pytest.mark.node
async def test_langchain_js_itself(scene: Scene, client: Client):
    """Given an agent of LangChain for JavaScript; when Alice approves one call, edits one, and its interrupt
    and our answer travel as JSON; then it runs what she decided."""
    calls = [
        {"id": f"c{number}", "name": "send_email", "args": args}
        for number, args in enumerate(ARGS[:2], start=1)
    ]
    agent = await asyncio.create_subprocess_exec(
        "node", "tests/dialects/langchain_js_agent.mjs", cwd=ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "HITL_NODE_MODULES": str(langchain_js())},
    )  # fmt: skip
    assert agent.stdin is not None
    assert agent.stdout is not None

    async def exchange(value: Any) -> Any:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(json.dumps(value).encode() + b"\n")
        return json.loads(await agent.stdout.readline())

    try:
        async with asyncio.timeout(30):
            config = {"interruptOn": {"send_email": True}}
            id = await post_interrupt(client, await exchange({"config": config, "calls": calls}))
            card = await scene.card("send_email")
            await scene.alice.press(card, "approve", 1)
            await scene.alice.press(card, "edit", 2)
            assert (await scene.alice.submit(copies=9))["ok"]
            review = await client.read(id, wait=10)
            ended = await exchange(review["resume"])
            await agent.communicate()
    finally:
        if agent.returncode is None:
            agent.kill()
            await agent.wait()

    assert len(ended["ran"]) == 2
    for call in review["outcome"]["execute"]:
        assert {"name": call["name"], "args": call["args"]} in ended["ran"]
    assert EDITED in [call["args"] for call in ended["ran"]]


@pytest.mark.node
@pytest.mark.parametrize("button", ["approve", "reject"])
async def test_the_example_for_langchain_js(
    scene: Scene, client: Client, tmp_path: Path, button: str
):
    """Given examples/langchain_js.mjs, as it is, beside its packages; when Alice decides; then its tool runs
    once, or its model gets the reason, and the card says what came of it."""
    (tmp_path / "node_modules").symlink_to(langchain_js())
    shutil.copy(ROOT / "examples" / "langchain_js.mjs", tmp_path)
    agent = await asyncio.create_subprocess_exec(
        "node", "langchain_js.mjs", cwd=tmp_path, stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HITL_URL": client.url, "HITL_TOKEN": client.token},
    )  # fmt: skip
    try:
        await scene.alice.press(await scene.card("send_email", timeout=30), button)
        if button == "reject":
            await scene.alice.submit(message="Not today")
        async with asyncio.timeout(20):
            output, _ = await agent.communicate()
    finally:
        if agent.returncode is None:
            agent.kill()
            await agent.wait()

    assert agent.returncode == 0
    if button == "approve":
        assert output.decode().splitlines() == ["send_email: sent to ada@example.com"]
        await scene.card("approved by U0ALICE", "sent to ada@example.com")
    else:
        assert output.decode().splitlines() == ["send_email: Not today"]
        await scene.card("rejected by U0ALICE")
