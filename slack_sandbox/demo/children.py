"""Child processes: each is started when the one before it is ready, and all end together."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from hitl_core.errors import HitlError

#: The package of the local Slack: `slack_sandbox` in a checkout, `hitl_slack_sandbox` when installed.
PROGRAM = __name__.partition(".")[0]
#: How long a child may take to become ready, in seconds.
START_TIMEOUT = 60.0


class ChildError(HitlError):
    """A child did not start. The text has the last line of its log."""


@dataclass
class ChildProcess:
    """`python -m module …`. It is ready when its log contains the text `ready`."""

    name: str
    arguments: list[str]
    ready: str
    logs: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])
    stdin: int = subprocess.DEVNULL
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0

    @property
    def log(self) -> Path:
        return self.logs / f"{self.name}.log"

    @property
    def pid(self) -> int:
        return self.process.pid if self.process else 0

    def start(self) -> None:
        """Raises ChildError, with the last line of its log, if it ends before it is ready."""
        self.launch()
        self.wait_until_ready()

    def launch(self) -> None:
        self.logs.mkdir(parents=True, exist_ok=True)
        self.started = time.monotonic()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                # -P: a user's file in this folder must not replace a library of the same name.
                [sys.executable, "-P", "-m", *self.arguments],
                stdin=self.stdin,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **self.environment},
                start_new_session=True,  # Ctrl-C reaches only the parent, which ends its children in order
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - the demo starts no threads
            )

    def wait_until_ready(self) -> None:
        while self.ready not in self.text():
            if not self.is_alive():
                raise ChildError(f"{self.name} did not start. {self._last_line()}")
            if time.monotonic() - self.started > START_TIMEOUT:
                raise ChildError(
                    f"{self.name} is not ready after {START_TIMEOUT:.0f} s: see {self.log}"
                )
            time.sleep(0.02)

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def text(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def write(self, line: str) -> None:
        """Write a line to its standard input, which must be a pipe."""
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def kill(self) -> None:
        """kill -9, to simulate a crash."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> None:
        if self.process is None or not self.is_alive():
            return
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.kill()

    def _last_line(self) -> str:
        lines = [line for line in self.text().splitlines() if line.strip()]
        return lines[-1] if lines else f"It ended with {self.process and self.process.returncode}."


def _die_with_parent() -> None:
    """On Linux: end this child when its parent ends in any way (prctl(2), PR_SET_PDEATHSIG)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
