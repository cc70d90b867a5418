"""`--lost-replies=0.01`: the stores of this process lose one of a hundred replies of Redis. Redis has
executed the command, but its caller gets a timeout. `--lost-replies-seed` repeats a run.

Tests that count commands, or lose replies themselves, are marked `every_reply`, and lose no others.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, TypeVar, cast

import pytest
from redis.exceptions import TimeoutError

from hitl_core.store import RedisStore
from hitl_core.store.redis.connection import batches, pool

T = TypeVar("T")

MARK = "every_reply"

_is_on = False


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


#: Calls that the product repeats after a failure, with the same result.
repeated: ContextVar[bool] = ContextVar("repeated", default=False)
_opening: ContextVar[bool] = ContextVar("opening", default=False)
_STORE = ("/hitl_core/store/", "/redis/", "/asyncio/", "/contextlib.py", __file__)


class Loss:
    """Decides which replies are lost, by a seed and the test's name, so that a test that runs alone loses the
    same ones.

    No reply is lost while a bot opens its store and channels, because a bot that can't open them ends with a
    sentence. No reply to a test's own call is lost, because only the product repeats its calls.
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
    """Whether the first frame outside the store belongs to a test."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and any(part in frame.f_code.co_filename for part in _STORE):
        frame = frame.f_back
    return frame is not None and "/tests/" in frame.f_code.co_filename


@contextmanager
def losing(loss: Loss) -> Generator[None, None, None]:
    """Stores that are opened within the block lose replies."""

    class Lossy:
        async def read_response(self, *args: Any, **options: Any) -> Any:
            connection = cast(Any, super())
            response = await connection.read_response(*args, **options)
            # The replies of a batch are read by a task of its own, without the caller's frames: see `call`
            # below.
            if sys._getframe(1).f_code.co_filename != batches.__file__ and loss.is_next():
                await connection.disconnect(nowait=True)
                raise TimeoutError("its reply was lost")
            return response

    from bot.channels.teams.channel import TeamsChannel

    async def call(self: Any, *args: Any) -> Any:
        reply = await call_in_batch(self, *args)
        if loss.is_next():
            raise TimeoutError("its reply was lost")
        return reply

    call_in_batch = batches.Batches.call
    open_pool = pool.Pool.__init__

    def open_lossy(self: Any, *args: Any, **options: Any) -> None:
        open_pool(self, *args, **options)
        self.connection_class = type("Connection", (Lossy, self.connection_class), {})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool.Pool, "__init__", open_lossy)
        patch.setattr(batches.Batches, "call", call)
        patch.setattr(RedisStore, "open", _without_losses(RedisStore.open))
        patch.setattr(TeamsChannel, "start", _without_losses(TeamsChannel.start))
        patch.setattr(sys.modules[__name__], "_is_on", True)
        yield


def _without_losses(open: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
    async def open_safely(*args: Any, **options: Any) -> T:
        token = _opening.set(True)
        try:
            return await open(*args, **options)
        finally:
            _opening.reset(token)

    return open_safely


def is_on() -> bool:
    """Whether replies are lost at the moment. If so, a person may have to press again."""
    return _is_on


@pytest.fixture(autouse=True)
def lost_replies(request: pytest.FixtureRequest) -> Iterator[Loss | None]:
    """Loses replies if the option is set."""
    rate = request.config.getoption("--lost-replies")
    if not rate or request.node.get_closest_marker(MARK):
        yield None
        return
    seed = request.config.getoption("--lost-replies-seed")
    loss = Loss(rate, f"{seed}:{request.node.nodeid}")
    with losing(loss):
        yield loss
