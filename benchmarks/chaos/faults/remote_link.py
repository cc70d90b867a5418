"""The links of a run in a separate process, so that the people's work does not delay Redis's replies."""

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


class RemoteLink:
    """A `Link` in the other process. It listens at `port`."""

    def __init__(self, links: RemoteLinks, number: int, port: int) -> None:
        self._links, self._number, self.port = links, number, port

    def do(self, what: What, value: float = 0) -> None:
        """Sets this attribute or calls this method of the `Link`. `value`: the seconds of a delay, or 1 for
        True.
        """
        self._links.send(self._number, what, value)


class RemoteLinks:
    """`all`: every link, in the order in which they were opened."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.all: list[RemoteLink] = []

    async def open(self, address: Address) -> RemoteLink:
        self.send("open", *address)
        assert self._process.stdout is not None
        port = int(await self._process.stdout.readline())
        self.all.append(RemoteLink(self, len(self.all), port))
        return self.all[-1]

    def send(self, *command: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")


@asynccontextmanager
async def open_remote_links() -> AsyncGenerator[RemoteLinks, None]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.programs.chaos_links", cwd=ROOT, stdin=PIPE, stdout=PIPE,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield RemoteLinks(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
