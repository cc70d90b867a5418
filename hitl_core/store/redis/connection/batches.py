"""Sends script calls that begin in the same turn of the event loop together, over one connection.

With a connection pool, a script call costs more time in Python than in Redis. When fifty people click at
once, most of that cost is paid once for all of their calls.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextvars import Context
from typing import Any, NamedTuple, cast

from redis.asyncio import Redis
from redis.commands.core import AsyncScript
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from hitl_core.errors import StoreError

#: A batch has at most this many calls; more calls go into another batch, over another connection. Redis must
#: answer a whole batch within the time of one command.
MAX_CALLS = 100
#: A larger call, in bytes, has a connection of its own, so that small calls don't wait for it.
MAX_BYTES = 16 * 1024


class BatchingRedis(Redis):
    """redis-py's client, which sends EVALSHA in batches. Other commands may block, or have replies that need
    to be translated: they are sent one by one.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        cast(Any, super()).__init__(*args, **options)
        self._batches, self._encoder = Batches(self.connection_pool), self.get_encoder()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        self._check_loop()
        if args[0] == "EVALSHA":
            packed = pack_command(args, self._encoder)
            if len(packed) <= MAX_BYTES:
                return await self._batches.call(packed)
        return await cast(Any, super()).execute_command(*args, **options)

    def _check_loop(self) -> None:
        """Raises StoreError in another event loop than that of the first command: connections of one loop do
        not work in another, and those that come back to the pool would stop the first one.
        """
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise StoreError(
                "This connection to Redis belongs to another event loop. Call it from the loop that opened it"
                " (each `asyncio.run` makes a new one); code without a loop uses hitl_core.gate.blocking."
            )

    def register_script(self, script: Any) -> AsyncScript:
        return _Script(self, script)

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        # Before 8.1, redis-py ended the connections in use too: commands that were sent got no reply.
        await super().aclose(close_connection_pool=False)
        await self.connection_pool.aclose()
        await self._batches.wait_sent()


class _Script(AsyncScript):
    """A script without redis-py's checks before each call, which take longer than the rest of the call."""

    async def __call__(self, keys: Any = (), args: Any = (), client: Any = None) -> Any:
        if client is None:
            try:
                call = (self.sha, len(keys), *keys, *args)
                return await cast(Any, self.registered_client).execute_command("EVALSHA", *call)
            except NoScriptError:
                pass  # it is loaded now
        return await super().__call__(keys, args, client)


class _Call(NamedTuple):
    packed: bytes
    reply: asyncio.Future[Any]


class Batches:
    """Each call gets its own reply or error, as if it had been sent alone. If the connection is lost, or no
    answer comes in time, all calls of the batch without a reply get that error: each may have been executed.

    A batch does not belong to one of its callers: a caller that is cancelled only stops waiting for its
    reply.
    """

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._open: list[_Call] | None = None
        self._sending = set[asyncio.Task[None]]()

    async def call(self, packed: bytes) -> Any:
        if self._open is None or len(self._open) >= MAX_CALLS:
            self._open = []
            # In an empty context, because the task works for many callers.
            task = asyncio.create_task(self._send(self._open), context=Context())
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        call = _Call(packed, asyncio.get_running_loop().create_future())
        self._open.append(call)
        return await call.reply

    async def wait_sent(self) -> None:
        """Wait until all calls have their reply or error."""
        await asyncio.gather(*self._sending, return_exceptions=True)

    async def _send(self, calls: list[_Call]) -> None:
        if self._open is calls:
            self._open = None  # calls that begin from now on are in the next batch
        calls = [call for call in calls if not call.reply.done()]  # the others were cancelled
        if not calls:
            return
        try:
            connection = await self._pool.get_connection()
            try:
                await _exchange(connection, calls)
            finally:
                await self._pool.release(connection)
        except Exception as error:
            for call in calls:
                _set_error(call, error)
        finally:
            for call in calls:
                call.reply.cancel()  # nobody may wait without end if the event loop is being closed


async def _exchange(connection: Any, calls: Sequence[_Call]) -> None:
    """Raises ConnectionError, TimeoutError. The connection is closed then."""
    packed = [call.packed for call in calls]
    try:
        async with asyncio.timeout(connection.socket_timeout):
            await connection.send_untimed(packed)
            for call in calls:
                try:
                    reply = await connection.read_response(timeout=math.inf)
                except ResponseError as error:
                    _set_error(call, error)
                else:
                    if not call.reply.done():
                        call.reply.set_result(reply)
    except TimeoutError:
        raise RedisTimeoutError("Timeout reading from socket") from None


def _set_error(call: _Call, error: Exception) -> None:
    if not call.reply.done():
        call.reply.set_exception(error)


def pack_command(words: Sequence[Any], encoder: Any) -> bytes:
    """The words of a command in Redis's protocol, as redis-py writes them but three times as fast."""
    encoded = [
        word
        if type(word) is bytes
        else word.encode()
        if isinstance(word, str)
        else b"%d" % word
        if type(word) is int
        else encoder.encode(word)
        for word in words
    ]
    parts = b"".join([b"$%d\r\n%b\r\n" % (len(word), word) for word in encoded])
    return b"*%d\r\n%b" % (len(encoded), parts)
