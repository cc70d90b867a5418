"""Bots, agents and a workspace for scenarios: the real programs, with fakes only for the chat system."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from slack_sdk.web.async_client import AsyncWebClient

from bot.app import Bot, Timing, running_bot
from bot.channels.connection import Connection
from bot.settings import Settings
from hitl_core import Gate, Outcome, Policy, ToolCall
from hitl_core.model import MessageRef
from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import BOT_TOKEN, SIGNING_SECRET, Sandbox
from tests.support.slack import (
    ALICE,
    APPROVALS,
    BOB,
    CARL,
    DANA,
    STRANGER,
    Message,
    Person,
    live,
    review_of,
    text_of,
)
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[2]
#: A text in the arguments of every scenario's calls. No log may contain it.
CANARY = "canary-5f1d"
#: Short intervals, so that no test waits long for a bot.
QUICK = Timing(
    pace=0.0,
    lane_lease=0.4,
    requeue_interval=60.0,
    timers_interval=0.05,
    late_window=0.2,
)

#: How long the local Slack waits for the answer to a click, and how long a bot may work on one, in seconds:
#: four times as long as in Slack, because the test machine may be busy.
CLICK = 12.0

POLICY = """
default: review
interrupt_on:
  read_*: false
  drop_*: deny
  run_sql: {allowed_decisions: [approve, reject], reject_reason: required}
  send_email:
    allowed_decisions: [approve, edit, reject, respond, ignore]
    args_schema:
      type: object
      properties: {to: {type: string}, copies: {type: integer, minimum: 1, maximum: 9}}
      required: [to, copies]
"""


def email(id: str = "c1") -> ToolCall:
    return ToolCall(id, "send_email", {"to": f"{CANARY}@example.com", "copies": 1})


def sql(id: str = "c2") -> ToolCall:
    return ToolCall(id, "run_sql", {"query": f"UPDATE x -- {CANARY}"})


class Process:
    """One of our programs in a separate process. `output`: everything that it wrote to stdout and stderr."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process, self._log = process, log
        self.url = ""

    @classmethod
    async def start(cls, module: str, *args: str, env: Mapping[str, str], log: Path) -> Process:
        with log.open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", module, *args, cwd=ROOT, stdout=file, stderr=file,
                env={**_clean_environment(), **env},
            )  # fmt: skip
        return cls(process, log)

    @property
    def output(self) -> str:
        return self._log.read_text()

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    async def listening(self) -> None:
        """Waits until the bot serves, and sets `url`."""
        # The whole line: of a line that is being written, a part of the URL can be read already.
        line = re.compile(r'bot: listening on ([^\s"]+).*\n')
        await wait_until(
            "the bot listens, or ended", lambda: line.search(self.output) or not self.running, 60
        )
        found = line.search(self.output)
        assert found, self.output
        self.url = found[1]

    async def wait_end(self, timeout: float = 60) -> int:
        """Waits for the end. Returns the exit code: -9 after `kill -9`, also if a failpoint killed it."""
        async with asyncio.timeout(timeout):
            return await self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        if self.running:
            self._process.send_signal(number)

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        await self.wait_end()


class Scene:
    """One workspace, one Redis, and the bots and agents that a test starts. `redis_url` may be replaced."""

    def __init__(self, sandbox: Sandbox, actor: Actor, redis_url: str, folder: Path) -> None:
        self.sandbox, self.actor, self.redis_url, self.folder = sandbox, actor, redis_url, folder
        self.alice, self.bob = Person(actor, ALICE), Person(actor, BOB)
        self.carl, self.dana = Person(actor, CARL), Person(actor, DANA)
        self.stranger = Person(actor, STRANGER, team="T0OTHER")
        self.processes: list[Process] = []
        #: Channels beside Slack, for bots in this process.
        self.extra: list[Connection] = []
        self.stack = AsyncExitStack()
        self._reviews: list[asyncio.Task[Outcome]] = []

    async def close(self) -> None:
        for task in self._reviews:
            task.cancel()
        await asyncio.gather(*self._reviews, return_exceptions=True)
        closing = asyncio.create_task(self.stack.aclose())
        if not (await asyncio.wait([closing], timeout=60))[0]:
            for task in asyncio.all_tasks():
                task.print_stack()
            raise AssertionError("a bot or a gate does not end")
        closing.result()
        for process in self.processes:
            await process.kill()

    def patience(self, seconds: float) -> None:
        """Sets how long Slack waits for the bot's answer, in place of 3 s."""
        self.sandbox.app_client.answer_timeout = seconds

    def environment(self, **changed: str) -> dict[str, str]:
        return {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": self.sandbox.api_url,
            "HITL_REDIS_URL": self.redis_url,
            "HITL_CHANNEL": "#agent-approvals",
            "HITL_PORT": "0",
            "HITL_CLICK_SECONDS": str(CLICK),
            **changed,
        }

    async def bot(self, timing: Timing = QUICK, /, **changed: str) -> Bot:
        """Starts a bot in this process. Clicks and events go to the newest bot."""
        settings = Settings.from_environment(self.environment(**changed))
        running = running_bot(settings, timing, extra=self.extra)
        bot = await self.stack.enter_async_context(running)
        self.sandbox.bot_url = bot.endpoints.get("slack", bot.url)
        return bot

    async def bot_process(self, failpoints: str = "", *args: str, **changed: str) -> Process:
        """`python -m bot serve`, exactly as an operator runs it."""
        environment = self.environment(HITL_FAILPOINTS=failpoints, **changed)
        bot = await self.process("bot", "serve", *args, env=environment)
        await bot.listening()
        self.sandbox.bot_url = bot.url
        return bot

    async def process(self, module: str, *args: str, env: Mapping[str, str]) -> Process:
        log = self.folder / f"process-{uuid4().hex}.log"
        process = await Process.start(module, *args, env=env, log=log)
        self.processes.append(process)
        return process

    async def gate(self, policy: str = POLICY, **options: Any) -> Gate:
        gate = Gate.connect(self.redis_url, policy=Policy.from_yaml(policy), agent="crm", **options)
        return await self.stack.enter_async_context(gate)

    def ask(self, gate: Gate, *calls: ToolCall, **which: Any) -> asyncio.Task[Outcome]:
        """Starts an agent that waits until people have decided on these calls."""
        which = {"thread_id": f"t-{uuid4().hex}", **which}
        task = asyncio.create_task(gate.review(calls or [email()], **which))
        self._reviews.append(task)
        return task

    def person(self, id: str, team: str | None = None) -> Person:
        return Person(self.actor, id, team)

    async def card(
        self,
        *having: str,
        channel: str = APPROVALS,
        timeout: float = 60.0,
        viewer: str | None = None,
    ) -> Message:
        """Waits for a message in the channel that contains all of these texts, and returns the first one.
        `viewer` must be in the channel.
        """
        viewer = viewer or (DANA if channel != APPROVALS else ALICE)

        def find_card(state: dict[str, Any]) -> Message | None:
            messages = live(state["messages"].get(channel, []))
            return next((m for m in messages if all(words in text_of(m) for words in having)), None)

        card = cast(Message, await self.actor.wait_for(find_card, user=viewer, timeout=timeout))
        return {**card, "channel": channel}

    async def unrecorded_card(
        self, patch: pytest.MonkeyPatch
    ) -> tuple[Message, asyncio.Task[Outcome], Path]:
        """A card that a bot has posted and not yet recorded, and the agent that waits for it. The bot goes on
        when the path exists.
        """
        go = self.folder / "go"
        patch.setenv("HITL_FAILPOINTS", f"outbox.after_card=pause:{go}")
        await self.bot()
        waiting = self.ask(await self.gate(), email())
        return await self.card("send_email"), waiting, go

    async def cards(self, channel: str = APPROVALS) -> list[Message]:
        return live(await self.actor.messages(channel))

    async def post_again(self, card: Message, **changed: Any) -> MessageRef:
        """Posts a second message like this one as the app, as a request does that Slack applies late."""
        client = AsyncWebClient(token=BOT_TOKEN, base_url=self.sandbox.api_url)
        more = {name: card[name] for name in ("text", "blocks", "metadata")} | changed
        posted: Any = await client.chat_postMessage(channel=card.get("channel", APPROVALS), **more)
        return MessageRef(channel="slack", conversation=posted["channel"], ts=posted["ts"])

    async def draw_again(self, card: Message) -> None:
        """Updates the message to this earlier content, as an update does that Slack applies late."""
        client = AsyncWebClient(token=BOT_TOKEN, base_url=self.sandbox.api_url)
        channel = card.get("channel", APPROVALS)
        more = {name: card[name] for name in ("text", "blocks")}
        await client.chat_update(channel=channel, ts=card["ts"], **more)

    def limit(self, scale: float) -> None:
        """Makes Slack limit calls from now on. Its limits are `scale` times as fast as the original."""
        self.sandbox.api.set_rate_limit(scale)

    async def redis(self) -> Any:
        """A Redis client for the test itself."""
        return await self.stack.enter_async_context(Redis.from_url(self.redis_url))

    async def wait_noted(self, gate: Gate, card: Message) -> None:
        """Waits until a bot has stored where this card is."""

        async def is_posted() -> bool:
            return bool((await gate.reviews.load(review_of(card))).posts)

        await wait_until("the card is noted", is_posted)

    async def all_shown(self) -> None:
        """Waits until the bots have drawn every card."""
        redis = await self.redis()

        async def empty() -> bool:
            return await redis.hlen("hitl:{0}:changes") == 0

        await wait_until("all events are done", empty)

    async def wait_deliveries(self, count: int) -> None:
        """Waits until this many requests were sent to a bot."""
        await wait_until(
            f"{count} requests to the bot",
            lambda: len(self.sandbox.interactions.deliveries) >= count,
        )

    async def calls(self, method: str, count: int = 1) -> list[dict[str, Any]]:
        """Waits for this many calls of a Web API method, and returns them."""

        def find_calls() -> list[dict[str, Any]]:
            return [call for call in self.sandbox.api.calls if call["method"] == method]

        await wait_until(f"{count} calls of {method}", lambda: len(find_calls()) >= count)
        return find_calls()


def duplicate_cards(sandbox: Sandbox) -> list[tuple[str, str]]:
    """(channel, review) for every review that has more than one message in a channel."""
    seen: set[tuple[str, str]] = set()
    twice: list[tuple[str, str]] = []
    for channel in sandbox.workspace.channels.values():
        for message in channel.messages.values():
            if message.metadata and not message.deleted:
                one = (channel.id, message.metadata["event_payload"]["review_id"])
                twice += [one] if one in seen else []
                seen.add(one)
    return twice


def _clean_environment() -> dict[str, str]:
    """The environment without our own settings."""
    ours: Callable[[str], bool] = lambda name: name.startswith(("HITL_", "SLACK_", "TEAMS_"))  # noqa: E731
    return {name: value for name, value in os.environ.items() if not ours(name)}
