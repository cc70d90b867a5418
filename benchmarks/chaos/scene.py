"""All parts of a run: Redis, Slack or Teams, bots, agents, and the links between them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from benchmarks.chaos.chats import Chat, open_chat
from benchmarks.chaos.faults.link import Address
from benchmarks.chaos.faults.remote_link import RemoteLink, RemoteLinks, open_remote_links
from benchmarks.chaos.journal import Journal
from benchmarks.chaos.names import names_of
from benchmarks.chaos.people.board import Board
from benchmarks.chaos.people.clicker import Clicker
from benchmarks.chaos.plan import (
    AGENTS,
    BOTS,
    HTTP_AGENT,
    WORKERS,
    Plan,
    agent_name,
    policy_mapping,
)
from benchmarks.chaos.processes import START_TIMEOUT, Program
from benchmarks.chaos.servers import ClusterRedis, LossyRedis, SentinelRedis, Server, SingleRedis
from hitl_core.model import Token
from hitl_core.store import RedisStore
from slack_sandbox.demo.ports import find_free_ports


@dataclass(frozen=True)
class Scene:
    """All parts of a run. `links`: the network connections that faults can break."""

    plan: Plan
    folder: Path
    redis: Server
    chat: Chat
    board: Board
    links: Sequence[RemoteLink]
    clicker: Clicker
    bots: Sequence[Program]
    agents: Sequence[Program]


class _Builder:
    """Makes the programs, each with its own links. Without network faults there are no links, because a link
    takes time, too.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        redis: Server,
        chat: Chat,
        links: RemoteLinks,
        stack: AsyncExitStack,
    ) -> None:
        self._plan, self._folder, self._redis, self._stack = plan, folder, redis, stack
        self._chat, self._links = chat, links
        self._policy = folder / "policy.yaml"
        self._policy.write_text(json.dumps(policy_mapping(plan.chat)))  # JSON is YAML

    async def port(self, address: Address) -> int:
        """The port at which a program reaches this server, through a new link if there are network faults."""
        if "network" not in self._plan.faults:
            return address[1]
        return (await self._links.open(address)).port

    async def bot(self, number: int, port: int | None) -> Program:
        """With a port, the bot answers clicks; without, it is one of the workers, which draw cards."""
        plan = self._plan
        settings = {
            **await self._chat.settings(self.port),
            "HITL_REDIS_URL": await self._redis_url(),
            "HITL_CHANNEL": names_of(plan.chat).place(0),
            "HITL_DIGEST_AFTER": str(plan.digest_after),
            "HITL_PORT": str(port or 0),
            "HITL_POLICY": str(self._policy),
        }
        role = "workers" if port is None else "http"
        command = ["benchmarks.programs.chaos_bot", role, str(1 / plan.scale), plan.bug]
        if port is not None and not plan.bug:
            command = ["bot", "serve", "--only", "http"]  # exactly as an operator runs it
        return self._program(f"bot-{number}", role, command, settings, "listening on")

    async def agent(self, number: int, token: str, ports: Sequence[int]) -> Program:
        """`ports`: the bots' ports, for an agent over HTTP."""
        role = agent_name(number)
        if role == HTTP_AGENT:
            links = [await self.port(("127.0.0.1", port)) for port in ports]
            urls = " ".join(f"http://127.0.0.1:{port}" for port in links)
            settings = {"HITL_TOKEN": token, "HITL_URLS": urls}
        else:
            settings = {"HITL_REDIS_URL": await self._redis_url()}
        command = ["benchmarks.programs.chaos_agent", str(number), str(self._folder)]
        return self._program(f"agent-{number}", role, command, settings, "agent: ready")

    async def _redis_url(self) -> str:
        return self._redis.url_through(await self.port(self._redis.address))

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
        chat = await stack.enter_async_context(open_chat(plan))
        links = await stack.enter_async_context(open_remote_links())
        build = _Builder(plan, folder, redis, chat, links, stack)
        ports = find_free_ports(BOTS)
        bots = [await build.bot(n, port) for n, port in enumerate([*ports, *[None] * WORKERS])]
        token = await _make_token(redis.url)
        agents = [await build.agent(number, token, ports) for number in range(AGENTS)]
        ingress = [await build.port(("127.0.0.1", port)) for port in ports]
        chat.reach([f"http://127.0.0.1:{port}" for port in ingress])
        async with asyncio.timeout(START_TIMEOUT):  # a wrong setting ends a program at each start
            await asyncio.gather(*(program.start() for program in bots))
            await chat.announce()
            await asyncio.gather(*(program.start() for program in agents))
        clicker = Clicker(chat, Journal(folder / "presses.jsonl"))
        yield Scene(plan, folder, redis, chat, Board(chat), links.all, clicker, bots, agents)


async def _make_token(redis_url: str) -> str:
    store = await RedisStore.open(redis_url)
    try:
        token, text = Token.issue(HTTP_AGENT, "make chaos", await store.now())
        await store.save_token(token)
    finally:
        await store.close()
    return text


def _make_server(plan: Plan, folder: Path) -> Server:
    if plan.bug == "everysec":
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
