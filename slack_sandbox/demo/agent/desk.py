"""The support desk: gets questions over HTTP, submits tool calls for review before it runs them, and posts
the result.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4

import aiohttp
from aiohttp import web

from hitl_core import Gate, HitlError, Outcome, ToolCall
from hitl_core.errors import LeaseLost, Refused, StoreUnavailable

from .script import Result, next_step
from .threads import Calls, FinalAnswer, Message, Question, Results, Threads

log = logging.getLogger(__name__)

WAIT = "A person must decide on this first."
BUSY = "I am still working on your last request. Ask again in a moment."
#: How long a new question waits for a busy run that doesn't wait for people, in seconds.
STEP_SECONDS = 5.0
#: The reason for cancelling when a new question replaces the last one; shown on cards and to the script.
NEW_QUESTION = "The user wrote something new."


class Desk:
    """Each thread in the chat is one thread of the agent, with the id `channel:ts`.

    The messages of a thread are on disk, and the next step depends only on them. So after a restart the desk
    continues every thread that has no final answer.
    """

    def __init__(
        self, gate: Gate, threads: Threads, tools: Mapping[str, Callable[..., str]], say_url: str
    ) -> None:
        self._gate, self._threads, self._tools, self._say_url = gate, threads, tools, say_url
        self._runs: dict[str, asyncio.Task[None]] = {}
        #: By thread: while people decide, the result of the future is the review's id.
        self._waiting: dict[str, asyncio.Future[str]] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def open(self, port: int) -> None:
        """Serve until SIGTERM or SIGINT."""
        stop_event = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop_event.set)
        for thread_id in self._threads.open_threads():
            self._start(thread_id)
        app = web.Application()
        app.router.add_post("/ask", self._ask)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        print(f"agent: http://127.0.0.1:{runner.addresses[0][1]}/ask", flush=True)
        await stop_event.wait()
        await runner.cleanup()
        for run in self._runs.values():
            run.cancel()
        await asyncio.gather(*self._runs.values(), return_exceptions=True)

    async def _ask(self, request: web.Request) -> web.Response:
        """Saves the question before it sends the response, so a crash does not lose it. In a thread that
        waits for people, a new question cancels their review.
        """
        try:
            body = await request.json()
            user, text, ts = (str(body[key]) for key in ("user", "text", "ts"))
            channel, root = str(body["channel"]), str(body.get("thread_ts") or ts)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise web.HTTPBadRequest(text="Send user, text, channel and ts as JSON.") from None
        thread_id = f"{channel}:{root}"
        question = Question(id=ts, text=text, user=user, origin=f"slack:{channel}/{root}")
        async with self._locks[thread_id]:
            if any(isinstance(m, Question) and m.id == ts for m in self._threads[thread_id]):
                raise web.HTTPConflict(text="This question was sent before.")
            try:
                await self._stop_run(thread_id)
            except Refused:
                await self._post(thread_id, BUSY)
                return web.Response(status=202)
            except StoreUnavailable as error:
                raise web.HTTPServiceUnavailable(text=str(error)) from error
            self._threads.append(thread_id, question)
            self._start(thread_id, is_new=True)
        return web.Response(status=202)

    async def _stop_run(self, thread_id: str) -> None:
        """Cancel the open review. Raises Refused if the run is busy and doesn't wait for people."""
        if (run := self._runs.get(thread_id)) is None:
            return
        waiting = self._waiting[thread_id]
        await asyncio.wait(
            [run, waiting], timeout=STEP_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        if run.done():
            return
        if not waiting.done():
            raise Refused("busy", BUSY)
        await self._gate.cancel(waiting.result(), NEW_QUESTION)
        await asyncio.wait([run])

    def _start(self, thread_id: str, *, is_new: bool = False) -> None:
        self._waiting[thread_id] = asyncio.Future()
        run = asyncio.create_task(self._run(thread_id, is_new))
        self._runs[thread_id] = run
        run.add_done_callback(lambda task: self._on_run_end(thread_id, task))

    def _on_run_end(self, thread_id: str, run: asyncio.Task[None]) -> None:
        if self._runs.get(thread_id) is run:
            del self._runs[thread_id]
        if not run.cancelled() and (error := run.exception()):
            log.error(
                "A run failed. When the agent starts again, it continues the run.", exc_info=error
            )

    async def _run(self, thread_id: str, is_new: bool) -> None:
        """Run until the final answer, or until a new question replaces this one."""
        while True:
            try:
                if await self._take_step(thread_id, is_new):
                    return
            except (StoreUnavailable, LeaseLost, aiohttp.ClientError) as error:
                log.warning("%s", error)
                await asyncio.sleep(1)
            except HitlError as error:
                await self._say(thread_id, f"This can't be reviewed: {error}")
                return

    async def _take_step(self, thread_id: str, is_new: bool) -> bool:
        """Add the next message to the thread. Returns True after the final answer."""
        messages = self._threads[thread_id]
        if isinstance(last := messages[-1], Calls):
            outcome = await self._review(thread_id, last.calls, is_new)
            answers = await outcome.run(self._tools)
            results = tuple(Result(a.name, a.status, a.content) for a in answers)
            self._threads.append(thread_id, Results(results=results))
            cancelled = outcome.review.cancelled
            return cancelled is not None and cancelled.reason == NEW_QUESTION
        step = next_step(*_last_exchange(messages))
        if isinstance(step, str):
            await self._say(thread_id, step)
            return True
        calls = tuple(ToolCall(f"call_{uuid4().hex[:24]}", call.name, call.args) for call in step)
        self._threads.append(thread_id, Calls(calls=calls))
        return False

    async def _review(self, thread_id: str, calls: tuple[ToolCall, ...], is_new: bool) -> Outcome:
        """Returns the outcome of the turn's review. The same turn has the same review in every process."""
        messages = self._threads[thread_id]
        question = next(m for m in reversed(messages) if isinstance(m, Question))
        review_id = await self._gate.submit(
            calls,
            thread_id=thread_id,
            turn=f"message-{len(messages)}",
            requester=question.user,
            origin=question.origin,
        )
        if all(self._gate.policy.judge(call).verdict.kind != "review" for call in calls):
            return await self._gate.wait(review_id)
        self._waiting[thread_id].set_result(review_id)
        try:
            if is_new:
                await self._post(thread_id, WAIT)
            return await self._gate.wait(review_id)
        finally:
            self._waiting[thread_id] = asyncio.Future()

    async def _say(self, thread_id: str, text: str) -> None:
        """Post the final answer. After a crash it may be posted twice, but it is never lost."""
        await self._post(thread_id, text)
        self._threads.append(thread_id, FinalAnswer(text=text))

    async def _post(self, thread_id: str, text: str) -> None:
        channel, _, ts = thread_id.rpartition(":")
        words = {"text": text, "channel": channel, "thread_ts": ts}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self._say_url, json=words) as answer,
        ):
            answer.raise_for_status()


def _last_exchange(messages: Sequence[Message]) -> tuple[str, list[Result]]:
    """The user's last question, and the results of all calls since then."""
    ask, results = "", list[Result]()
    for message in messages:
        match message:
            case Question():
                ask, results = message.text, []
            case Results():
                results += message.results
            case Calls() | FinalAnswer():
                pass
    return ask, results
