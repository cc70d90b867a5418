"""The demo agent: a support desk, in a process of its own, that survives being killed.

    python -m examples.agent --redis redis://127.0.0.1:6379/0 --policy examples/policy.yaml

`POST /ask {"user", "text", "channel", "ts"}` starts a run, and the run's last words go to `--say`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from examples.support.model import SYSTEM_PROMPT, choose_model
from examples.support.tools import make_tools
from hitl_core.errors import HitlError, Refused, StoreUnavailable
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
        for thread_id in await _threads(checkpointer):
            thread = await self._agent.aget_state({"configurable": {"thread_id": thread_id}})
            if thread.next:  # a run that a crash cut short, or that waits for people
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
            asked: dict[str, Any] = await request.json()
            thread_id = f"{asked['channel']}:{asked['ts']}"
            question = {"messages": [{"role": "user", "content": str(asked["text"])}]}
            requester = str(asked["user"])
        except (KeyError, TypeError, ValueError):
            raise web.HTTPBadRequest(text="Send user, text, channel and ts as JSON.") from None
        try:
            await self._driver.keep(question, thread_id=thread_id, requester=requester)
        except Refused as error:  # the same message again
            raise web.HTTPConflict(text=str(error)) from error
        self._start(self._run(thread_id))
        return web.Response(status=202)

    async def _run(self, thread_id: str) -> None:
        while True:
            try:
                return await self._tell(await self._driver.run(None, thread_id=thread_id))
            except StoreUnavailable as error:
                log.warning("%s", error)
                await asyncio.sleep(1)
            except HitlError as error:
                return await self._mouth.say(thread_id, f"I can't have this reviewed: {error}")

    async def _tell(self, run: Run) -> None:
        if run.refused:
            await self._mouth.say(run.thread_id, f"I can't have this reviewed: {run.refused}")
        elif run.finished:
            await self._mouth.say(run.thread_id, run.state["messages"][-1].text)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("A run stopped; the next start takes it up.", exc_info=error)


async def _threads(checkpointer: AsyncSqliteSaver) -> set[str]:
    """Reads every checkpoint there is: good enough for a demo."""
    configs = [saved.config.get("configurable", {}) async for saved in checkpointer.alist(None)]
    return {configurable["thread_id"] for configurable in configs}


def main() -> None:
    parser = argparse.ArgumentParser(description="The demo agent.")
    env = os.environ.get
    parser.add_argument("--redis", default=env("HITL_REDIS_URL", "redis://127.0.0.1:6379/0"))
    parser.add_argument("--policy", default=env("HITL_POLICY", "examples/policy.yaml"))
    parser.add_argument("--data", type=Path, default=Path(env("AGENT_DATA", ".demo/agent")))
    parser.add_argument("--port", type=int, default=int(env("AGENT_PORT", "0")))
    parser.add_argument("--say", default=env("AGENT_SAY"), metavar="URL")
    settings = parser.parse_args()
    settings.data.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(level=logging.INFO, format="agent: %(message)s")
    try:
        asyncio.run(serve(settings))
    except HitlError as error:
        raise SystemExit(f"agent: {error}") from error


if __name__ == "__main__":
    main()
