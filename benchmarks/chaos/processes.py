"""The programs under test: they are started, killed, frozen, and started again with the same address."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.support.process import ROOT

START_TIMEOUT = 120.0


class Program:
    """A program that must always run. `command`: the words after `python -m`. `ready`: the text that it
    prints when it is ready.
    """

    def __init__(
        self,
        name: str,
        role: str,
        command: list[str],
        environment: Mapping[str, str],
        folder: Path,
        ready: str,
    ) -> None:
        self.name, self.role, self._command, self._ready = name, role, command, ready
        ours = ("HITL_", "SLACK_", "TEAMS_")
        clean = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        self._environment = {**clean, **environment}
        self._log = folder / f"{name}.log"
        self._process: asyncio.subprocess.Process | None = None
        #: Held during a fault, so that a program has one fault at a time.
        self.busy = asyncio.Lock()
        self.peak_memory = 0
        self.stopping = False

    async def start(self) -> None:
        """Returns when the program is ready, or was killed. If it ends by itself, it is started again."""
        while not self.stopping:
            with self._log.open("ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", *self._command, cwd=ROOT, env=self._environment,
                    stdout=asyncio.subprocess.PIPE, stderr=log, start_new_session=True,
                )  # fmt: skip
            assert self._process.stdout is not None
            async with asyncio.timeout(START_TIMEOUT):
                while line := await self._process.stdout.readline():
                    if self._ready.encode() in line:
                        return
                await self._process.wait()

    async def crash(self) -> None:
        """Kills it with kill -9, and starts it again."""
        self.note_memory()
        self.signal(signal.SIGKILL)
        if self._process is not None:
            await self._process.wait()
        await self.start()

    async def freeze(self, seconds: float) -> None:
        self.signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            self.signal(signal.SIGCONT)

    def signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)

    async def stop(self) -> None:
        self.stopping = True
        self.note_memory()
        self.signal(signal.SIGKILL)
        if self._process is not None:
            await self._process.wait()

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself and was not started again."""
        return self._process is None or self._process.returncode is not None

    def note_memory(self) -> None:
        """Records the most memory that it ever used (VmHWM), in bytes. Linux only."""
        if self._process is None:
            return
        try:
            text = Path(f"/proc/{self._process.pid}/status").read_text()
            peak = int(text.partition("VmHWM:")[2].split()[0]) * 1024
        except (OSError, IndexError):
            return
        self.peak_memory = max(self.peak_memory, peak)
