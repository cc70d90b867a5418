"""A program in a separate process, which reports its progress on standard output."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
#: How long to wait for the next line of a program, in seconds.
PATIENCE = 60.0
_LISTENING = "listening on "


class Process:
    def __init__(self, process: asyncio.subprocess.Process, module: str, errors: IO[bytes]) -> None:
        self._process, self._module, self._errors = process, module, errors

    async def line(self) -> str:
        """The next line that it prints. Raises RuntimeError with its last output if none comes."""
        assert self._process.stdout is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                if line := await self._process.stdout.readline():
                    return line.decode().strip()
        self._errors.seek(0)
        raise RuntimeError(f"{self._module} stopped. {self._errors.read().decode()[-2000:]}")

    async def address(self) -> str:
        """The address that it prints when it listens."""
        while _LISTENING not in (line := await self.line()):
            pass
        return line.partition(_LISTENING)[2].split()[0]

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    @property
    def memory(self) -> int:
        """Its memory now (RSS), in bytes. Linux only."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024


@asynccontextmanager
async def running(
    module: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> AsyncGenerator[Process, None]:
    """Runs `python -m module …` with only these settings of ours; stops it at the end of the block."""
    ours = ("HITL_", "SLACK_", "TEAMS_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, *arguments,
            cwd=ROOT, env={**inherited, **(environment or {})}, start_new_session=True,
            stdout=asyncio.subprocess.PIPE, stderr=errors,
        )  # fmt: skip
        try:
            yield Process(process, module, errors)
        finally:
            with suppress(ProcessLookupError):
                # At SIGTERM a bot finishes the requests of its clients first.
                process.send_signal(signal.SIGINT)
            try:
                async with asyncio.timeout(15):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
