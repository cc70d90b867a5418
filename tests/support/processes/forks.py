"""Processes that start at once: they are forked from a process that has already imported the test's program.

Each is a normal process with its own memory and environment, and kill -9 ends it as usual. Importing
LangChain takes more than a second; this way it happens once, and not at each start.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


class Forked:
    """A forked process. `wait` returns at its end."""

    def __init__(self, pid: int, said: asyncio.StreamReader, asking: asyncio.StreamWriter) -> None:
        self.pid, self._said, self._asking = pid, said, asking
        self.returncode: int | None = None

    async def wait(self) -> int:
        """Waits for the end and returns the exit code, which is -9 after kill -9. Only one task may wait at a
        time.
        """
        if self.returncode is None:
            self.returncode = int(await self._said.readline())
            self._asking.close()
            await self._asking.wait_closed()
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)


class Forks:
    """Starts `main(*args)` of one module, as often as a test needs it."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def start(self, *args: str, env: Mapping[str, str]) -> Forked:
        text, asking = await asyncio.open_connection("127.0.0.1", self._port)
        asking.write(json.dumps([args, {**env}]).encode() + b"\n")
        return Forked(int(await text.readline()), text, asking)


@contextmanager
def forks(module: str) -> Iterator[Forks]:
    """`module` must have a coroutine function `main` with text arguments, and must start
    nothing on import.
    """
    command = [sys.executable, "-m", "tests.support.processes.forks", module]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        # At the end of the block its input is closed, which ends it.
        yield Forks(int(process.stdout.readline()))


def _serve(module: str) -> None:
    """For each connection, starts a process that forks the program and reports on it. Ends with its input."""
    main = importlib.import_module(module).main
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the reporting processes
        while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
            connection, _ = server.accept()
            with connection:
                if os.fork() == 0:
                    server.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    _attend(connection, main)
                    return


def _attend(connection: socket.socket, main: Any) -> None:
    """Forks the program, and writes its pid and later its exit code to the connection."""
    with connection.makefile("rw") as stream:
        args, env = json.loads(stream.readline())
        if (pid := os.fork()) == 0:
            os.environ.clear()
            os.environ.update(env)
            asyncio.run(main(*args))
            return
        print(pid, file=stream, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), file=stream, flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1])
