"""An operator's desk: a Redis, reviews in it, and the command `hitl` in this process, with its output in a
pipe or on a terminal.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from hitl_core.cli import main
from hitl_core.model import Review, ToolCall
from hitl_core.review import claims
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from tests.support.builders import approve_all, call, review_of

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
_HITL = [sys.executable, "-c", "import sys; from hitl_core.cli import main; sys.exit(main())"]


class Ran(NamedTuple):
    """A terminal shows both streams as one: there it is all in `out`."""

    code: int
    out: str
    err: str = ""


def _take_interrupts() -> None:
    """A shell starts what runs in the background with Ctrl-C ignored, and so would everything below it be."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """`hitl` on a terminal so many columns wide."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], columns: int) -> None:
        self._own, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._process = subprocess.Popen(
            [*_HITL, *argv],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=env,
            preexec_fn=_take_interrupts,  # noqa: PLW1509 - no thread of this process runs Python code then
        )
        os.close(theirs)
        self.out = ""

    def until(self, words: str | None) -> None:
        """Read on until it says this; None: to its end."""
        end = time.monotonic() + 20
        while words is None or words not in self.out:
            assert time.monotonic() < end, self.out
            if not select.select([self._own], [], [], 0.1)[0]:
                continue
            try:
                read = os.read(self._own, 65536)
            except OSError:  # how Linux says that the other side is closed
                read = b""
            if not read:
                assert words is None, self.out
                return
            self.out += read.decode().replace("\r\n", "\n")

    def types(self, text: str) -> None:
        os.write(self._own, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def wait_end(self) -> Ran:
        try:
            self.until(None)
            return Ran(self._process.wait(20), self.out)
        finally:
            self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._own)


class Desk:
    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.url, self._capsys = url, capsys

    def do(self, work: Callable[[Reviews], Awaitable[T]]) -> T:
        async def run() -> T:
            store = await RedisStore.open(self.url)
            try:
                return await work(Reviews(store))
            finally:
                await store.close()

        return asyncio.run(run())

    def submit(self, *calls: ToolCall, ago: float = 0, **where: Any) -> Review:
        """A review that was submitted so many seconds ago."""

        async def submit(reviews: Reviews) -> Review:
            now = await reviews.store.now() - ago
            return await reviews.submit(*review_of(calls or [call()], now=now, **where))

        return self.do(submit)

    def claim(
        self, *calls: ToolCall, started: bool = False, lease: float = 60, **where: Any
    ) -> Review:
        """A review that its agent has; its lease may have ended, and its call be in doubt."""
        review = self.submit(*calls, **where)

        async def claim(reviews: Reviews) -> Review:
            await approve_all(reviews, review.id)
            taken = await reviews.change(
                review.id, "claim", lambda r, now: claims.claim(r, "host:1", now, lease)
            )
            fence = taken.review.fence
            if started:
                taken = await reviews.change(
                    review.id, "start", lambda r, now: claims.start(r, fence, "1", now)
                )
            return taken.review

        return self.do(claim)

    def doubtful(self, *calls: ToolCall, **where: Any) -> Review:
        """Its first call is in doubt."""
        review = self.claim(*calls, started=True, **where)

        async def end_lease(reviews: Reviews) -> None:
            await reviews.change(
                review.id, "end", lambda r, now: claims.renew(r, review.fence, now, 0)
            )

        self.do(end_lease)
        while (fired := self.do(lambda reviews: reviews.apply_due(review.id))) is None:
            pass
        return fired.review

    def done(self, **where: Any) -> Review:
        review = self.claim(started=True, **where)
        applied = self.do(
            lambda reviews: reviews.change(
                review.id,
                "done",
                lambda r, now: claims.finish(r, r.fence, {"1": "mail m-1 sent"}, now),
            )
        )
        return applied.review

    def review(self, review_id: str) -> Review:
        return self.do(lambda reviews: reviews.load(review_id)).review

    def hitl(self, *argv: str) -> Ran:
        """In this process, where nothing is a terminal."""
        self._capsys.readouterr()
        code = main(argv)
        text = self._capsys.readouterr()
        return Ran(code, text.out, text.err)

    def run_piped(self, *argv: str, stdin: str = "", **env: str) -> Ran:
        ended = subprocess.run(
            [*_HITL, *argv],
            input=stdin,
            capture_output=True,
            text=True,
            env=self.environment(env),
            check=False,
            timeout=30,
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    def terminal(self, *argv: str, columns: int = 80, **env: str) -> Terminal:
        return Terminal(argv, self.environment(env), columns)

    def on_terminal(self, *argv: str, columns: int = 80, **env: str) -> Ran:
        return self.terminal(*argv, columns=columns, **{"NO_COLOR": "1", **env}).wait_end()

    def environment(self, changed: Mapping[str, str]) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if name.startswith("HITL_")}
        return {"PATH": "", "PYTHONPATH": str(ROOT), "HITL_REDIS_URL": self.url, **ours, **changed}
