"""The demo agent: a support desk, in a process of its own, that survives being killed.

    python -m examples.agent --redis redis://localhost:6379/0 --data .demo/agent --policy examples/policy.yaml

`POST /ask {"user", "text", "channel", "ts"}` starts a run, and the run's last words go to `--say`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from examples.support.model import SYSTEM_PROMPT, choose_model
from examples.support.tools import make_tools
from hitl_core.errors import HitlError
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph import Driver, HumanReview, Run
from hitl_core.policy import Policy

log = logging.getLogger("agent")

#: LangChain's own configuration: which tools pause, and what may be decided.
INTERRUPT_ON: dict[str, Any] = {
    "refund_order": True,
    "send_email": True,
    "update_customer": True,
    "run_sql": {"allowed_decisions": ["approve", "reject"]},
}


async def serve(settings: argparse.Namespace) -> None:
    """The agent with its approvals: what stands here is all that an agent needs."""
    policy = Policy.load(settings.policy)
    async with (
        Gate.connect(settings.redis, policy=policy, agent="support") as gate,
        AsyncSqliteSaver.from_conn_string(str(settings.data / "threads.db")) as checkpointer,
    ):
        reviews = HumanReview(gate)
        agent = create_agent(
            choose_model(),
            make_tools(settings.data),
            system_prompt=SYSTEM_PROMPT,
            middleware=[HumanInTheLoopMiddleware(INTERRUPT_ON), reviews.middleware],
            checkpointer=checkpointer,
        )
        driver = reviews.drive(agent)
        async with aiohttp.ClientSession() as session:
            desk = Desk(agent, driver, Mouth(session, settings.say))
            await desk.open(checkpointer, settings.port)


class Mouth:
    """Says things where they were asked. A thread's id holds the channel and the question's ts."""

    def __init__(self, session: aiohttp.ClientSession, url: str | None) -> None:
        self._session, self._url = session, url

    async def say(self, thread_id: str, text: str) -> None:
        log.info("%s: %s", thread_id, text)
        if self._url is None:
            return
        channel, _, ts = thread_id.partition(":")
        words = {"text": text, "channel": channel, "thread_ts": ts}
        async with self._session.post(self._url, json=words) as answer:
            answer.raise_for_status()


class Desk:
    """Takes questions, runs the agent, and says what came of them."""

    def __init__(self, agent: Any, driver: Driver, mouth: Mouth) -> None:
        self._agent, self._driver, self._mouth = agent, driver, mouth
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, checkpointer: AsyncSqliteSaver, port: int) -> None:
        """Until SIGTERM or SIGINT."""
        over = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, over.set)
        self._start(self._driver.serve(self._tell))
        async for thread_id in _threads(checkpointer):
            if (await self._agent.aget_state(_config(thread_id))).next:
                self._start(self._run(thread_id))
        app = web.Application()
        app.router.add_post("/ask", self._ask)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        host, bound = runner.addresses[0][:2]
        print(f"agent: http://{host}:{bound}/ask", flush=True)
        await over.wait()
        await runner.cleanup()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask(self, request: web.Request) -> web.Response:
        """The question is on disk before the answer goes out, so a crash does not lose it."""
        try:
            asked: Mapping[str, Any] = await request.json()
            user, text = str(asked["user"]), str(asked["text"])
            thread_id = f"{asked['channel']}:{asked['ts']}"
        except (KeyError, TypeError, ValueError):
            raise web.HTTPBadRequest(text="Send user, text, channel and ts as JSON.") from None
        config = {**_config(thread_id), "metadata": {"requester": user}}
        if (await self._agent.aget_state(config)).created_at is None:  # else it was asked twice
            question = {"messages": [{"role": "user", "content": text}]}
            await self._agent.aupdate_state(config, question, as_node="__start__")
            self._start(self._run(thread_id, user))
        return web.Response(status=202)

    async def _run(self, thread_id: str, user: str | None = None) -> None:
        try:
            await self._tell(await self._driver.run(None, thread_id=thread_id, requester=user))
        except HitlError as error:
            await self._mouth.say(thread_id, f"I can't have this reviewed: {error}")

    async def _tell(self, run: Run) -> None:
        if run.refused:
            await self._mouth.say(run.thread_id, f"I can't have this reviewed: {run.refused}")
        elif run.finished:
            await self._mouth.say(run.thread_id, run.state["messages"][-1].text)
