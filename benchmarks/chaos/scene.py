"""Everything that runs: Redis, Slack, bots and agents, and the links between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from benchmarks.chaos.faults.link import Address, Link, open_link
from benchmarks.chaos.journal import Journal
from benchmarks.chaos.people.board import Board
from benchmarks.chaos.people.mouse import Mouse, open_mouse
from benchmarks.chaos.plan import AGENTS, BOTS, WORKERS, Plan, agent_name, channel_id
from benchmarks.chaos.processes import Program, free_port
from benchmarks.chaos.servers import ClusterRedis, LossyRedis, SentinelRedis, Server, SingleRedis
from slack_sandbox.sandbox import BOT_TOKEN, SIGNING_SECRET, Sandbox
from slack_sandbox.server import running_sandbox


@dataclass(frozen=True)
class Scene:
    """Everything that runs. `links`: all that can be broken."""

    plan: Plan
    folder: Path
    redis: Server
    sandbox: Sandbox
    board: Board
    links: Sequence[Link]
    mouse: Mouse
    bots: Sequence[Program]
    agents: Sequence[Program]


class _Builder:
    """Starts programs, each with links of its own."""

    def __init__(self, plan: Plan, folder: Path, redis: Server, stack: AsyncExitStack) -> None:
        self._plan, self._folder, self._redis, self._stack = plan, folder, redis, stack
        self.links: list[Link] = []

    async def link(self, name: str, address: Address) -> Link:
        self.links.append(await self._stack.enter_async_context(open_link(name, [address])))
        return self.links[-1]

    async def bot(self, number: int, slack_port: int, port: int | None) -> Program:
        """With a port it answers clicks, else it is one of the workers."""
        plan = self._plan
        to_slack = await self.link(f"bot-{number} to Slack", ("127.0.0.1", slack_port))
        settings = {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": f"http://127.0.0.1:{to_slack.port}/api/",
            "HITL_REDIS_URL": await self._redis_url(f"bot-{number}"),
            "HITL_CHANNEL": channel_id(0),
            "HITL_DIGEST_AFTER": "0",  # the judge looks for a message of each review
            "HITL_PORT": str(port or 0),
        }
        role = "workers" if port is None else "http"
        command = ["benchmarks.programs.chaos_bot", role, str(1 / plan.scale), plan.plant]
        if port is not None and not plan.plant:
            command = ["bot", "serve", "--only", "http"]  # exactly as an operator runs it
        return self._program(f"bot-{number}", role, command, settings, "listening on")

    async def agent(self, number: int) -> Program:
        settings = {"HITL_REDIS_URL": await self._redis_url(f"agent-{number}")}
        command = ["benchmarks.programs.chaos_agent", str(number), str(self._folder)]
        role = agent_name(number)
        return self._program(f"agent-{number}", role, command, settings, "agent: ready")

    async def _redis_url(self, name: str) -> str:
        link = await self.link(f"{name} to Redis", self._redis.address)
        return self._redis.url_through(link.port)

    def _program(
        self, name: str, role: str, command: list[str], settings: dict[str, str], ready: str
    ) -> Program:
        program = Program(name, role, command, settings, self._folder, ready)
        self._stack.push_async_callback(program.stop)
        return program


@asynccontextmanager
async def open_scene(plan: Plan, folder: Path) -> AsyncGenerator[Scene, None]:
    plan.save(folder / "plan.json")
    async with AsyncExitStack() as stack:
        redis = _make_server(plan, folder / "redis")
        await redis.start()
        stack.push_async_callback(redis.stop)
        sandbox = await stack.enter_async_context(running_sandbox(rate_limits=plan.scale))
        board, build = Board(sandbox), _Builder(plan, folder, redis, stack)
        slack_port = int(sandbox.url.rpartition(":")[2])
        ports = [free_port() for _ in range(BOTS)]
        all_ports = [*ports, *[None] * WORKERS]
        bots = [await build.bot(n, slack_port, port) for n, port in enumerate(all_ports)]
        agents = [await build.agent(number) for number in range(AGENTS)]
        ingress = [
            await build.link(f"Slack to bot-{n}", ("127.0.0.1", port))
            for n, port in enumerate(ports)
        ]
        urls = [f"http://127.0.0.1:{one.port}/slack/events" for one in ingress]
        sandbox.bot_url = urls[0]
        await asyncio.gather(*(program.start() for program in bots))
        await asyncio.gather(*(program.start() for program in agents))
        journal = Journal(folder / "presses.jsonl")
        mouse = await stack.enter_async_context(open_mouse(sandbox, urls, journal))
        yield Scene(plan, folder, redis, sandbox, board, build.links, mouse, bots, agents)


def _make_server(plan: Plan, folder: Path) -> Server:
    if plan.plant == "everysec":
        return LossyRedis(folder)
    match plan.setup:
        case "single":
            return SingleRedis(folder)
        case "sentinel":
            return SentinelRedis(folder)
        case "cluster":
            return ClusterRedis(folder)
        case _:
            assert_never(plan.setup)
