"""The links of a run, in a process of their own: what people press must not delay what Redis answers."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

from benchmarks.chaos.faults.link import Address
from benchmarks.support.process import ROOT

What = Literal["delay", "silent", "cut", "half_close", "lose_reply", "reset"]


class FarLink:
    """A `Link` of the other process, which listens at `port`."""

    def __init__(self, links: FarLinks, number: int, port: int) -> None:
        self._links, self._number, self.port = links, number, port

    def do(self, what: What, value: float = 0) -> None:
        """As the attribute or method of `Link`. `value`: seconds of a delay, or 1 for True."""
        self._links.send(self._number, what, value)


class FarLinks:
    """`all`: every link, in the order in which they were opened."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.all: list[FarLink] = []

    async def open(self, address: Address) -> FarLink:
        self.send("open", *address)
        assert self._process.stdout is not None
        port = int(await self._process.stdout.readline())
        self.all.append(FarLink(self, len(self.all), port))
        return self.all[-1]

    def send(self, *command: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")


@asynccontextmanager
async def open_far_links() -> AsyncGenerator[FarLinks, None]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.programs.chaos_links", cwd=ROOT, stdin=PIPE, stdout=PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield FarLinks(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
