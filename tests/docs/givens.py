"""The set-up for snippets: each function here starts or creates something, and returns the names that a
snippet can use.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from examples.support.model import ScriptedModel
from examples.support.tools import make_tools
from hitl_core import Gate, Policy, ToolCall
from hitl_core.model import Token
from hitl_core.store import Keys, RedisStore
from tests.support.bots import Scene
from tests.support.slack import APPROVALS, buttons, live

Names = Mapping[str, Any]
Given = Callable[[Scene], AbstractAsyncContextManager[Names]]

#: `redis://localhost:6379/0` and the HTTP API's address, as on the pages.
REDIS, API = "redis://localhost:6379/0", "http://localhost:3000"


@asynccontextmanager
async def nothing(scene: Scene) -> AsyncIterator[Names]:
    """Redis, and the files of the page."""
    yield {}


@asynccontextmanager
async def a_bot(scene: Scene) -> AsyncIterator[Names]:
    """A bot, which also serves the HTTP API, with the page's policy."""
    bot = await scene.bot(HITL_POLICY=str(scene.folder / "policy.yaml"))
    yield {"api": bot.url}


@asynccontextmanager
async def alice_approves(scene: Scene) -> AsyncIterator[Names]:
    async with a_bot(scene) as names, _alice(scene, "approve"):
        yield names


@asynccontextmanager
async def alice_rejects(scene: Scene) -> AsyncIterator[Names]:
    async with a_bot(scene) as names, _alice(scene, "reject"):
        yield names


@asynccontextmanager
async def a_token(scene: Scene) -> AsyncIterator[Names]:
    """For the agent `billing`, in HITL_TOKEN."""
    store = await RedisStore.open(scene.redis_url)
    token, text = Token.issue("billing", "", await store.now())
    await store.save_token(token)
    await store.close()
    yield {"token": text}


@asynccontextmanager
async def a_gate(scene: Scene) -> AsyncIterator[Names]:
    """An open gate with the page's policy, calls that need a person, and a tool that notes what it ran."""
    ran: list[tuple[str, Any]] = []

    def run_tool(name: str, args: dict[str, Any]) -> str:
        ran.append((name, args))
        return "sent"

    def send_email(**args: Any) -> str:
        return run_tool("send_email", args)

    policy = Policy.load(scene.folder / "policy.yaml")
    async with Gate.connect(scene.redis_url, policy=policy, agent="billing") as gate:
        yield {
            "gate": gate,
            "calls": [ToolCall("c1", "send_email", {"to": "jo@example.com", "body": "Hi Jo"})],
            "run_tool": run_tool,
            "send_email": send_email,
            "ran": ran,
            "messages": [],
        }


@asynccontextmanager
async def a_settled_review(scene: Scene) -> AsyncIterator[Names]:
    """One that another process submitted."""
    policy = Policy.load(scene.folder / "policy.yaml")
    call = ToolCall("c1", "send_email", {"to": "jo@example.com", "body": "Hi Jo"})
    async with Gate.connect(scene.redis_url, policy=policy, agent="billing") as gate:
        yield {"review_id": await gate.submit([call], thread_id="t-42")}


@asynccontextmanager
async def an_audit(scene: Scene) -> AsyncIterator[Names]:
    """In which something has happened."""
    policy = Policy.from_mapping({"default": "review"})
    async with Gate.connect(scene.redis_url, policy=policy, agent="billing") as gate:
        await gate.submit([ToolCall("c1", "send_email", {})], thread_id="t-42")
    yield {}


@asynccontextmanager
async def a_shop(scene: Scene) -> AsyncIterator[Names]:
    """A model, tools and a checkpointer for LangChain."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    shop = scene.folder / "shop"
    async with AsyncSqliteSaver.from_conn_string(str(scene.folder / "runs.db")) as checkpointer:
        yield {
            "model": ScriptedModel(),
            "tools": make_tools(shop),
            "checkpointer": checkpointer,
            "mails": lambda: len(list((shop / "outbox").glob("*.eml"))),
        }


@asynccontextmanager
async def deepagents(scene: Scene) -> AsyncIterator[Names]:
    """Where it is installed."""
    pytest.importorskip("deepagents")
    yield {}


GIVENS: dict[str, Given] = {
    given.__name__.replace("_", " "): given
    for given in (
        nothing,
        a_bot,
        alice_approves,
        alice_rejects,
        a_token,
        a_gate,
        a_settled_review,
        an_audit,
        a_shop,
        deepagents,
    )
}


async def all_is_done(scene: Scene) -> bool:
    """Somebody asked, and nothing waits any more."""
    redis = await scene.redis()
    reviews = [key async for key in redis.scan_iter("hitl:{0}:review:*")]
    return bool(reviews) and not await redis.exists(Keys(0).live_reviews)


ENDS: dict[str, Callable[[Scene], Awaitable[bool]]] = {"all is done": all_is_done}


@asynccontextmanager
async def _alice(scene: Scene, button: str) -> AsyncIterator[None]:
    """Alice presses every such button that she sees, as long as the snippet runs."""

    async def press() -> None:
        while True:
            for card in live(await scene.actor.messages(APPROVALS)):
                if card["blocks"] and buttons(card, button):
                    await scene.alice.press({**card, "channel": APPROVALS}, button)
                    if button == "reject":
                        await scene.alice.submit(message="Not today")
            await asyncio.sleep(0.05)

    pressing = asyncio.create_task(press())
    try:
        yield
    finally:
        pressing.cancel()
        result = (await asyncio.gather(pressing, return_exceptions=True))[0]
        if not isinstance(result, asyncio.CancelledError):
            raise AssertionError("Alice could not go on") from result
