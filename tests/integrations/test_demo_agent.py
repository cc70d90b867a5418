"""The support desk as a separate process with a real Redis: asked over HTTP, killed, and started again. The
demo's desk uses only the gate, the example's uses LangChain.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from hitl_core.gate import Gate
from hitl_core.policy import Policy
from tests.integrations.agents import Lab
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

DESKS = ("slack_sandbox.demo.agent", "examples.agent")
POLICY = Path("slack_sandbox/demo/policy.yaml").resolve()
ASK = {
    "user": "U0MARIA",
    "text": "refund order 1042",
    "channel": "C0ASK",
    "ts": "1700000017.000500",
}


class Workplace:
    """A gate for the people, a server that gets the agent's messages, and agents to start."""

    def __init__(self, desk: str, redis_url: str, gate: Gate, folder: Path, ear: str) -> None:
        self._desk, self._redis_url, self._folder, self._ear = desk, redis_url, folder, ear
        self.lab = Lab(gate, None, folder)
        self.heard: list[dict[str, Any]] = []
        self.refusals = 0

    @contextlib.asynccontextmanager
    async def agent(self) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
        """The process and its address for questions; killed at the end, if it still lives."""
        options = ("--redis", self._redis_url, "--policy", POLICY, "--data", self._folder)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", self._desk, *options, "--say", self._ear),
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            assert process.stdout
            ready = (await process.stdout.readline()).decode()
            yield process, ready.removeprefix("agent: ").strip()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def review(self) -> str:
        reviews = await wait_until("a review", self.reviews_with_actions)
        return reviews[0].id

    async def reviews_with_actions(self) -> list[Any]:
        """Without turns that need no person: the gate stores these too."""
        reviews = await self.lab.all_reviews(f"C0ASK:{ASK['ts']}")
        return [review for review in reviews if review.actions]

    def row(self, sql: str) -> Any:
        with contextlib.closing(sqlite3.connect(self._folder / "support.db")) as db:
            return db.execute(sql).fetchone()


@pytest.fixture(params=DESKS)
async def workplace(
    request: pytest.FixtureRequest, redis_url: str, tmp_path: Path
) -> AsyncIterator[Workplace]:
    policy = Policy.load(POLICY)
    app, runner = web.Application(), None
    async with Gate.connect(redis_url, policy=policy, agent="support") as gate:
        runner = web.AppRunner(app)
        town = Workplace(request.param, redis_url, gate, tmp_path, "")

        async def hear(request: web.Request) -> web.Response:
            if town.refusals:
                town.refusals -= 1
                return web.Response(status=503)
            town.heard.append(await request.json())
            return web.Response()

        app.router.add_post("/say", hear)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        town._ear = f"http://127.0.0.1:{runner.addresses[0][1]}/say"
        yield town
        await runner.cleanup()


async def ask(url: str, **changed: Any) -> int:
    async with aiohttp.ClientSession() as session, session.post(url, json=ASK | changed) as answer:
        return answer.status


async def test_a_refund_survives_the_death_of_its_agent(workplace: Workplace) -> None:
    """Given a refund that waits for people, when its agent is killed and it is decided, then the
    next agent does what was decided, and says so where it was asked."""
    async with workplace.agent() as (_, url):
        assert await ask(url) == 202
        review_id = await workplace.review()
    email = {"to": "jo@example.com", "subject": "Refund", "body": "Done."}
    await workplace.lab.decide(review_id, "approve", email, ("reject", "leave the status"))
    async with workplace.agent() as (process, url):
        review = await workplace.lab.done(review_id)
        [words] = await wait_until("the agent's last words", lambda: last_words(workplace))
        assert await ask(url) == 409
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    assert review.requester == "U0MARIA"
    assert workplace.row("SELECT refunded_cents, status FROM orders WHERE id = 1042") == (
        12000,
        "delivered",
    )
    [letter] = (workplace.lab.folder / "outbox").iterdir()
    assert "Subject: Refund" in letter.read_text()
    assert (words["channel"], words["thread_ts"]) == ("C0ASK", ASK["ts"])
    assert "leave the status" in words["text"]


def last_words(town: Workplace) -> list[dict[str, Any]]:
    """The last message of the agent; it may have been killed before or after earlier ones."""
    return [words for words in town.heard if "must decide on this first" not in words["text"]]


async def test_the_requester_is_told_to_wait(workplace: Workplace) -> None:
    async with workplace.agent() as (_, url):
        assert await ask(url) == 202
        [words] = await wait_until("the agent's words", lambda: workplace.heard)
    assert words["text"] == "A person must decide on this first."


async def test_a_new_request_replaces_the_open_review(workplace: Workplace) -> None:
    """Given a refund that waits for people; when its requester says something else in the same thread; then
    the review is cancelled, and the new one waits."""
    async with workplace.agent() as (_, url):
        assert await ask(url) == 202
        first = await workplace.review()
        again = {"ts": "1700000018.000100", "thread_ts": ASK["ts"]}
        assert await ask(url, text="refund 50 EUR of order 1042", **again) == 202
        assert await ask(url, text="refund 50 EUR of order 1042", **again) == 409
        both = await wait_until("the second review", lambda: two_reviews(workplace))
    cancelled, waits = sorted(both, key=lambda review: review.created_at)
    assert (cancelled.id, cancelled.cancelled is not None) == (first, True)
    assert (waits.status, waits.origin) == ("pending", f"slack:C0ASK/{ASK['ts']}")
    assert waits.arguments("1").parse()["amount"] == 50


async def two_reviews(town: Workplace) -> list[Any]:
    found = await town.reviews_with_actions()
    return found if len(found) == 2 else []


async def test_a_question_without_tools_is_answered_at_once(workplace: Workplace) -> None:
    async with workplace.agent() as (_, url):
        assert await ask(url, text="hello", ts="1700000018.000100") == 202
        [words] = await wait_until("the agent's words", lambda: workplace.heard)
    assert words["text"].startswith("I can:")


@pytest.mark.parametrize("workplace", DESKS[:1], indirect=True)
async def test_messages_that_the_chat_refuses_are_posted_again(workplace: Workplace) -> None:
    """Given a chat that is away for a moment, as after kill -9 of the demo's Slack; then the messages come
    later."""
    workplace.refusals = 1
    async with workplace.agent() as (_, url):
        assert await ask(url, text="hello", ts="1700000018.000100") == 202
        [words] = await wait_until("the agent's words", lambda: workplace.heard)
    assert (words["text"].startswith("I can:"), workplace.refusals) == (True, 0)


async def test_a_bad_question_is_refused(workplace: Workplace) -> None:
    async with workplace.agent() as (_, url), aiohttp.ClientSession() as session:
        for body in ("no json", "[]", "{}", '{"user": "U1"}'):
            async with session.post(url, data=body) as answer:
                text = await answer.text()
                assert (answer.status, "user, text, channel and ts" in text) == (400, True), body


@pytest.mark.parametrize("desk", DESKS)
async def test_without_redis_the_agent_says_so_and_ends(desk: str, tmp_path: Path) -> None:
    """Given an address without a Redis, then the agent prints one sentence and ends with an exit code."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", desk, "--redis", "redis://127.0.0.1:1/0"),
        *("--policy", POLICY, "--data", tmp_path, "--say", "http://127.0.0.1:1/say"),
        stderr=asyncio.subprocess.PIPE,
    )
    _, stderr = await process.communicate()
    assert process.returncode == 1
    assert stderr.decode().startswith("agent: ")
    assert "Traceback" not in stderr.decode()
