"""The integration contract, run on functions with `Gate.guard` and `BlockingGate.guard`: a script in place of
a framework.

A script makes its calls one after the other. It has no store of its own: another process runs it again from
its first call, in the same thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import pytest

from hitl_core.errors import GateClosed
from hitl_core.gate import Gate
from hitl_core.gate.blocking import BlockingGate, connect
from tests.integrations.contract import IntegrationContract
from tests.integrations.world import (
    AGENT,
    POLICY,
    REQUESTER,
    THREAD,
    Answer,
    Turn,
    World,
)


class ScriptWorld(World):
    """`scripts`: one for each process."""

    def __init__(self, redis_url: str) -> None:
        super().__init__()
        self.redis_url = redis_url
        self.turns: tuple[Turn, ...] = ()
        self.got: dict[str, Answer] = {}
        self.scripts: list[asyncio.Future[None]] = []

    async def start(self, *turns: Turn) -> None:
        self.turns = turns
        await self.start_again()

    async def answers(self) -> Mapping[str, Answer]:
        async with asyncio.timeout(30):
            await asyncio.gather(*self.scripts)
        return self.got

    def note(self, id: str, result: object) -> None:
        """The result of a call, or what it raised."""
        self.got[id] = Answer(str(result), isinstance(result, Exception))


class AsyncWorld(ScriptWorld):
    def __init__(self, redis_url: str) -> None:
        super().__init__(redis_url)
        self._processes = AsyncExitStack()

    async def start_again(self) -> None:
        self.scripts.append(asyncio.create_task(self._run(await self._connect())))

    async def _connect(self) -> Gate:
        connection = Gate.connect(self.redis_url, policy=POLICY, agent=AGENT, lease=1.0)
        return await self._processes.enter_async_context(connection)

    async def _run(self, gate: Gate) -> None:
        tools = {name: gate.guard(tool) for name, tool in self.tools.items()}
        with gate.thread(THREAD, REQUESTER):
            for call in (call for turn in self.turns for call in turn):
                try:
                    self.note(call.id, await tools[call.name](**call.args))
                except Exception as error:
                    self.note(call.id, error)

    async def end_processes(self) -> None:
        for script in self.scripts:
            script.cancel()
        await asyncio.gather(*self.scripts, return_exceptions=True)
        self.scripts.clear()
        await self._processes.aclose()

    async def run_unguardable(self) -> None:
        async def send(*to: str) -> None:
            self.effects.append(f"sent {to}")

        await (await self._connect()).guard(send)("a")


class BlockingWorld(ScriptWorld):
    def __init__(self, redis_url: str) -> None:
        super().__init__(redis_url)
        self._processes = ExitStack()

    async def start_again(self) -> None:
        gate = await asyncio.to_thread(self._connect)
        self.scripts.append(asyncio.ensure_future(asyncio.to_thread(self._run, gate)))

    def _connect(self) -> BlockingGate:
        connection = connect(self.redis_url, policy=POLICY, agent=AGENT, lease=1.0)
        return self._processes.enter_context(connection)

    def _run(self, gate: BlockingGate) -> None:
        tools: dict[str, Any] = {name: gate.guard(tool) for name, tool in self.tools.items()}
        with gate.thread(THREAD, REQUESTER):
            for call in (call for turn in self.turns for call in turn):
                try:
                    self.note(call.id, tools[call.name](**call.args))
                except GateClosed:
                    return
                except Exception as error:
                    self.note(call.id, error)

    async def end_processes(self) -> None:
        await asyncio.to_thread(self._processes.close)
        await asyncio.gather(*self.scripts)
        self.scripts.clear()

    async def run_unguardable(self) -> None:
        def send(*to: str) -> None:
            self.effects.append(f"sent {to}")

        gate = await asyncio.to_thread(self._connect)
        gate.guard(send)("a")


class TestGateContract(IntegrationContract):
    @pytest.fixture
    async def world(self, redis_url: str) -> AsyncIterator[AsyncWorld]:
        world = AsyncWorld(redis_url)
        yield world
        await world.end_processes()


class TestBlockingGateContract(IntegrationContract):
    @pytest.fixture
    async def world(self, redis_url: str) -> AsyncIterator[BlockingWorld]:
        world = BlockingWorld(redis_url)
        yield world
        await world.end_processes()
