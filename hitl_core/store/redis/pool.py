"""redis-py's connection pool, made fair, with connections that are made to the end, and closed for good."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, TypeVar, cast

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError

from hitl_core.errors import StoreError

T = TypeVar("T")

NO_CONNECTION = "No connection is free."


class Pool(ConnectionPool):
    """At most `max_connections`, to whoever asked first. Raises ConnectionError after `timeout` seconds, and
    StoreError once it is closed: redis-py's own would connect again, and nobody would close that.

    redis-py's own BlockingConnectionPool lets who gives a connection back take it again before those who
    wait; under load some then wait for ever although Redis is well.
    """

    def __init__(self, *args: Any, timeout: float, **options: Any) -> None:
        cast(Any, super()).__init__(*args, **options)
        self.connection_class: Any = type(
            "Connection", (_ShieldedConnection, self.connection_class), {}
        )
        self._limit, self._timeout = asyncio.Semaphore(self.max_connections), timeout
        self._closed = False

    async def get_connection(self, *args: Any, **options: Any) -> Any:
        try:
            async with asyncio.timeout(self._timeout if self._limit.locked() else None):
                await self._limit.acquire()
        except TimeoutError as error:
            raise ConnectionError(NO_CONNECTION) from error
        connection = None
        try:
            if self._closed:
                raise StoreError("The store is closed.")
            connection = self.get_available_connection()
            await self.ensure_connection(connection)
            return connection
        except BaseException:
            # Once, with its connection or without: redis-py's own `get_connection` gives it back as well.
            await self.release(connection)
            raise

    async def release(self, connection: Any) -> None:
        try:
            if connection is not None:
                if self._closed:
                    await connection.disconnect(nowait=True)
                await super().release(connection)
        finally:
            self._limit.release()

    async def aclose(self) -> None:
        """What is idle is closed at once, what is in use when it is given back: a command that was sent is
        answered.
        """
        self._closed = True
        await self.disconnect(inuse_connections=False)


class _ShieldedConnection:
    """A connection that is made to the end: one cancelled half-way would leave its socket behind."""

    is_connected: bool

    async def connect(self) -> None:
        if not self.is_connected:
            await run_to_end(cast(Any, super()).connect())


async def run_to_end(work: Awaitable[T]) -> T:
    """Do it, however often the caller is cancelled meanwhile; that is raised when it is done."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at: asyncio complains of those that nobody saw
        raise
