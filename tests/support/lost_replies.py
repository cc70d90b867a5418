"""`--lost-replies=0.01`: one of a hundred replies of Redis to the stores of this process is lost. The command
was executed; its caller is told that it timed out. `--lost-replies-seed` repeats a run.

Tests that count commands, or lose replies themselves, are marked `every_reply`, and lose no others.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, cast

import pytest
from redis.exceptions import TimeoutError

from hitl_core.store import RedisStore
from hitl_core.store.redis.connection import pool

MARK = "every_reply"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lost replies")
    group.addoption(
        "--lost-replies", type=float, default=0.0, metavar="RATE",
        help="lose this part of Redis's replies to stores (0.01 is one of a hundred)",
    )  # fmt: skip
    group.addoption("--lost-replies-seed", type=int, default=1, metavar="SEED")


def pytest_report_header(config: pytest.Config) -> str | None:
    if rate := config.getoption("--lost-replies"):
        return f"lost replies: {rate:.1%}, seed {config.getoption('--lost-replies-seed')}"
    return None


#: A call that its caller repeats when it fails, with the same answer.
repeated: ContextVar[bool] = ContextVar("repeated", default=False)
_opening: ContextVar[bool] = ContextVar("opening", default=False)
_STORE = ("/hitl_core/store/", "/redis/", "/asyncio/", "/contextlib.py", __file__)


class Loss:
    """Which replies are lost: by a seed and the test's name, so that a test alone loses the same ones.

    None of a store that is being opened, because a program that can't open its store ends with a sentence;
    and none of a test's own call, because only the product repeats its calls.
    """

    def __init__(self, rate: float, seed: str) -> None:
        self._rate, self._random = rate, random.Random(seed)
        self.count = 0

    def is_next(self) -> bool:
        if _opening.get() or (_is_called_by_a_test() and not repeated.get()):
            return False
        lost = self._random.random() < self._rate
        self.count += lost
        return lost


def _is_called_by_a_test() -> bool:
    """Whether the first frame outside of the store is one of a test."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and any(part in frame.f_code.co_filename for part in _STORE):
        frame = frame.f_back
    return frame is not None and "/tests/" in frame.f_code.co_filename


@contextmanager
def losing(loss: Loss) -> Generator[None, None, None]:
    """Stores that are opened in this block lose replies."""

    class Lossy:
        async def read_response(self, *args: Any, **options: Any) -> Any:
            connection = cast(Any, super())
            response = await connection.read_response(*args, **options)
            if loss.is_next():
                await connection.disconnect(nowait=True)
                raise TimeoutError("its reply was lost")
            return response

    open_pool, open_store = pool.Pool.__init__, RedisStore.open

    def open_lossy(self: Any, *args: Any, **options: Any) -> None:
        open_pool(self, *args, **options)
        self.connection_class = type("Connection", (Lossy, self.connection_class), {})

    async def open_safely(*args: Any, **options: Any) -> RedisStore:
        token = _opening.set(True)
        try:
            return await open_store(*args, **options)
        finally:
            _opening.reset(token)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool.Pool, "__init__", open_lossy)
        patch.setattr(RedisStore, "open", open_safely)
        yield


@pytest.fixture(autouse=True)
def lost_replies(request: pytest.FixtureRequest) -> Iterator[Loss | None]:
    """Loses replies, if the run is asked to. None if it is not."""
    rate = request.config.getoption("--lost-replies")
    if not rate or request.node.get_closest_marker(MARK):
        yield None
        return
    seed = request.config.getoption("--lost-replies-seed")
    loss = Loss(rate, f"{seed}:{request.node.nodeid}")
    with losing(loss):
        yield loss
