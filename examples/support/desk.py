"""The desk: gets questions over HTTP, runs the agent, and posts its answers."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Coroutine
from typing import Any

import aiohttp
from aiohttp import web
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import StateSnapshot

from hitl_core.errors import HitlError, Refused, StoreUnavailable
from hitl_core.integrations.langgraph import Driver, Run

log = logging.getLogger(__name__)


class Desk:
    """Each chat thread is one thread of the agent, named `channel:ts`, so answers find their thread."""

    def __init__(
        self, agent: Any, driver: Driver, checkpointer: AsyncSqliteSaver, say_url: str | None
    ) -> None:
        self._agent, self._driver, self._checkpointer = agent, driver, checkpointer
        self._say_url = say_url
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, port: int) -> None:
        """Serve until SIGTERM or SIGINT."""
        stop_event = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop_event.set)
        for thread_id in await self._find_open_threads():
            self._start_task(self._run(thread_id))
        # After those, so that nothing is posted twice.
        self._start_task(self._driver.serve(self._report_run))
        app = web.Application()
        app.router.add_post("/ask", self._ask)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        print(f"agent: http://127.0.0.1:{runner.addresses[0][1]}/ask", flush=True)
        await stop_event.wait()
        await runner.cleanup()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask(self, request: web.Request) -> web.Response:
        """The question is saved before the HTTP answer, so a crash does not lose it. In a thread that waits
        for people, it cancels their review.
        """
        try:
            body: dict[str, Any] = await request.json()
            user, text, ts = (str(body[key]) for key in ("user", "text", "ts"))
            channel, root = str(body["channel"]), str(body.get("thread_ts") or ts)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise web.HTTPBadRequest(text="Send user, text, channel and ts as JSON.") from None
        thread_id, question = f"{channel}:{root}", HumanMessage(text, id=f"ask-{ts}")
        known = (await self._state(thread_id)).values.get("messages", [])
        if question.id in {message.id for message in known}:
            raise web.HTTPConflict(text="This question was sent before.")
        try:
            origin = f"slack:{channel}/{root}"
            new_input = {"messages": [question]}
            await self._driver.save_input(
                new_input, thread_id=thread_id, requester=user, origin=origin
            )
        except Refused:
            await self._post_answer(
                thread_id, "I am still working on your last request. Ask again in a moment."
            )
            return web.Response(status=202)
        except StoreUnavailable as error:
            raise web.HTTPServiceUnavailable(text=str(error)) from error
        self._start_task(self._run(thread_id, is_new=True))
        return web.Response(status=202)

    async def _run(self, thread_id: str, *, is_new: bool = False) -> None:
        """Continue the saved thread. `is_new`: the user has just asked, and is told if people must decide."""
        while True:
            try:
                run = await self._driver.run(None, thread_id=thread_id)
                if run.review_id and is_new:
                    await self._post_answer(thread_id, "A person must decide on this first.")
                return await self._report_run(run)
            except StoreUnavailable as error:
                log.warning("%s", error)
                await asyncio.sleep(1)
            except HitlError as error:
                return await self._post_answer(thread_id, f"I can't have this reviewed: {error}")

    async def _report_run(self, run: Run) -> None:
        if run.refusal:
            await self._post_answer(run.thread_id, f"I can't have this reviewed: {run.refusal}")
        elif run.finished:
            await self._post_answer(run.thread_id, run.state["messages"][-1].text)

    async def _post_answer(self, thread_id: str, text: str) -> None:
        if self._say_url is None:
            print(f"agent: {thread_id}: {text}", flush=True)
            return
        channel, _, ts = thread_id.rpartition(":")
        words = {"text": text, "channel": channel, "thread_ts": ts}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self._say_url, json=words) as answer,
        ):
            answer.raise_for_status()

    async def _find_open_threads(self) -> list[str]:
        """Threads whose run crashed or waits for people. Reads every checkpoint: this is a demo."""
        saved = [item.config async for item in self._checkpointer.alist(None)]
        threads = {config.get("configurable", {})["thread_id"] for config in saved}
        return [thread_id for thread_id in threads if (await self._state(thread_id)).next]

    async def _state(self, thread_id: str) -> StateSnapshot:
        return await self._agent.aget_state({"configurable": {"thread_id": thread_id}})

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_end)

    def _on_task_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error(
                "A run failed. When this agent starts again, it continues the run.", exc_info=error
            )
