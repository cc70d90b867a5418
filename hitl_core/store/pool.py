"""redis-py's connection pool, made fair, with connections that are made to the end."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, cast

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError


class Pool(ConnectionPool):
    """At most `max_connections`, to whoever asked first. Raises ConnectionError after `timeout` seconds.

    redis-py's own BlockingConnectionPool lets who gives a connection back take it again before those who
    wait; under load some then wait for ever although Redis is well.
    """

    def __init__(self, *args: Any, timeout: float, **options: Any) -> None:
        cast(Any, super()).__init__(*args, **options)
        self.connection_class: Any = type("Connection", (_MadeWhole, self.connection_class), {})
        self._turns, self._timeout = asyncio.Semaphore(self.max_connections), timeout

    async def get_connection(self, *args: Any, **options: Any) -> Any:
        try:
            async with asyncio.timeout(self._timeout if self._turns.locked() else None):
                await self._turns.acquire()
        except TimeoutError as error:
            raise ConnectionError("No connection is free.") from error
        connection = None
        try:
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
                await super().release(connection)
        finally:
            self._turns.release()


class _MadeWhole:
    """A connection that is made to the end: one cancelled half-way would leave its socket behind."""

    async def connect(self) -> None:
        making = asyncio.ensure_future(cast(Any, super()).connect())
        try:
            await asyncio.shield(making)
        except asyncio.CancelledError:
            while not making.done():  # however often it is cancelled; it has a timeout of its own
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([making])
            raise
