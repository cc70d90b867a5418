"""The links of `make chaos`: reads commands from stdin, one JSON list a line, until it ends.

`["open", HOST, PORT]` is answered with the port of a new link. `[NUMBER, WHAT, VALUE]` breaks a link, or ends
its faults; links are numbered from 0.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from benchmarks.chaos.faults.link import Link, open_link


async def main() -> None:
    links: list[Link] = []
    async with AsyncExitStack() as stack:
        async for command in _commands():
            match command:
                case ["open", host, port]:
                    link = await stack.enter_async_context(open_link("link", [(host, port)]))
                    links.append(link)
                    print(link.port, flush=True)
                case [number, what, value]:
                    _do(links[number], what, value)
                case _:
                    raise ValueError(f"No such command: {command}")


async def _commands() -> AsyncIterator[list[Any]]:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        yield json.loads(line)


def _do(link: Link, what: str, value: float) -> None:
    match what:
        case "delay":
            link.delay = value
        case "silent":
            link.silent = bool(value)
        case "cut":
            link.cut()
        case "half_close":
            link.half_close()
        case "lose_reply":
            link.lose_reply(hang=bool(value))
        case "reset":
            link.reset()
        case _:
            raise ValueError(f"No such fault: {what}")


if __name__ == "__main__":
    asyncio.run(main())
