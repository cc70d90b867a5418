"""The contract, kept by functions behind `Gate.guard` and `BlockingGate.guard`: a script in place of a
framework.

A script makes its calls one after the other. It has no store of its own: another process runs it again from
its first call, in the same thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, ExitStack, suppress
from typing import Any

import pytest

from hitl_core.errors import GateClosed
from hitl_core.gate import Gate
from hitl_core.gate.blocking import BlockingGate, connect
from tests.integrations.contract import (
    AGENT,
    POLICY,
    REQUESTER,
    THREAD,
    Answer,
    IntegrationContract,
    Turn,
    World,
)


class ScriptWorld(World):
    """`script`: the running process."""

    def __init__(self, redis_url: str) -> None:
        super().__init__()
        self.redis_url = redis_url
        self.turns: tuple[Turn, ...] = ()
        self.got: dict[str, Answer] = {}
        self.script: asyncio.Future[None] | None = None

    async def start(self, *turns: Turn) -> None:
        self.turns = turns
        await self.start_again()

    async def answers(self) -> Mapping[str, Answer]:
        assert self.script is not None
        async with asyncio.timeout(30):
            await self.script
        return self.got

    def note(self, id: str, result: object) -> None:
        """The result of a call, or what it raised."""
        self.got[id] = Answer(str(result), isinstance(result, Exception))


class AsyncWorld(ScriptWorld):
    async def start_again(self) -> None:
        self._process = AsyncExitStack()
        connection = Gate.connect(self.redis_url, policy=POLICY, agent=AGENT, lease=1.0)
        self._gate = await self._process.enter_async_context(connection)
        self.script = asyncio.create_task(self._run())

    async def _run(self) -> None:
        tools = {name: self._gate.guard(tool) for name, tool in self.tools.items()}
        with self._gate.thread(THREAD, REQUESTER):
            for call in (call for turn in self.turns for call in turn):
                try:
                    self.note(call.id, await tools[call.name](**call.args))
                except Exception as error:
                    self.note(call.id, error)

    async def end_process(self) -> None:
        if self.script is None:
            return
        self.script.cancel()
        await asyncio.gather(self.script, return_exceptions=True)
        await self._process.aclose()

    async def run_unguardable(self) -> None:
        await self.start()

        async def send(*to: str) -> None:
            self.effects.append(f"sent {to}")

        await self._gate.guard(send)("a")


class BlockingWorld(ScriptWorld):
    async def start_again(self) -> None:
        self._process = ExitStack()
        connection = connect(self.redis_url, policy=POLICY, agent=AGENT, lease=1.0)
        self._gate: BlockingGate = await asyncio.to_thread(self._process.enter_context, connection)
        self.script = asyncio.ensure_future(asyncio.to_thread(self._run))

    def _run(self) -> None:
        tools: dict[str, Any] = {name: self._gate.guard(tool) for name, tool in self.tools.items()}
        with self._gate.thread(THREAD, REQUESTER):
            for call in (call for turn in self.turns for call in turn):
                try:
                    self.note(call.id, tools[call.name](**call.args))
                except GateClosed:
                    return
                except Exception as error:
                    self.note(call.id, error)

    async def end_process(self) -> None:
        if self.script is None:
            return
        await asyncio.to_thread(self._process.close)
        with suppress(GateClosed):
            await self.script

    async def run_unguardable(self) -> None:
        await self.start()

        def send(*to: str) -> None:
            self.effects.append(f"sent {to}")

        self._gate.guard(send)("a")


class TestGateContract(IntegrationContract):
    @pytest.fixture
    async def world(self, redis_url: str) -> AsyncIterator[AsyncWorld]:
        world = AsyncWorld(redis_url)
        yield world
        await world.end_process()


class TestBlockingGateContract(IntegrationContract):
    @pytest.fixture
    async def world(self, redis_url: str) -> AsyncIterator[BlockingWorld]:
        world = BlockingWorld(redis_url)
        yield world
        await world.end_process()
