"""redis-py's connection pool with five changes: it is fair, it leaks no socket when a task is cancelled, it
stays closed, it leaves a server that became a replica, and it reads new certificates.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from redis.asyncio import ConnectionPool
from redis.exceptions import ConnectionError, MasterDownError, ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from hitl_core.errors import StoreError
from hitl_core.tasks import run_to_end

NO_CONNECTION = "No connection is free."


class Pool(ConnectionPool):
    """At most `max_connections` connections, given out in order of request. Raises ConnectionError after
    `timeout` seconds, and StoreError after it was closed: redis-py's pool would connect again then, and
    nothing would close that connection.

    redis-py's BlockingConnectionPool is not fair: a task that returns a connection can get it back before the
    tasks that wait, and under load some tasks never get one.
    """

    def __init__(self, *args: Any, timeout: float, **options: Any) -> None:
        cast(Any, super()).__init__(*args, **options)
        self.connection_class: Any = type(
            "Connection", (_ShieldedConnection, self.connection_class), {}
        )
        self._limit, self._timeout = asyncio.Semaphore(self.max_connections), timeout
        self._closed = False

    async def get_connection(self, *args: Any, **options: Any) -> Any:
        if self._limit.locked():
            try:
                async with asyncio.timeout(self._timeout):
                    await self._limit.acquire()
            except TimeoutError as error:
                raise ConnectionError(NO_CONNECTION) from error
        else:
            await self._limit.acquire()  # at once
        connection = None
        try:
            if self._closed:
                raise StoreError("The store is closed.")
            connection = self.get_available_connection()
            await self.ensure_connection(connection)
            return connection
        except BaseException:
            # Release the limit exactly once, with a connection or without one.
            await self.release(connection)
            raise

    async def release(self, connection: Any) -> None:
        try:
            if connection is not None:
                if self._closed or connection.is_refused:
                    await connection.disconnect(nowait=True)
                await super().release(connection)
                if connection.is_refused:
                    await self.disconnect(inuse_connections=False)  # the idle ones
        finally:
            self._limit.release()

    async def aclose(self) -> None:
        """Close idle connections now, and the others when they are returned: a command that was sent gets its
        reply.
        """
        self._closed = True
        await self.disconnect(inuse_connections=False)


class _ShieldedConnection:
    """A connection whose `connect` always completes: a cancelled one would leave its socket open.

    `is_refused`: the server is a replica now. A service with one address that fails over may keep the
    connections to the old server; a new one leads to the new server.
    """

    is_connected: bool
    is_refused = False
    ssl_context: Any = None
    socket_timeout: float | None
    socket_connect_timeout: float | None

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        """Send without `asyncio.wait_for`, which redis-py uses with a `socket_timeout`: before Python 3.12 it
        makes a task, which takes a third of a command's time.
        """
        try:
            async with asyncio.timeout(self.socket_timeout):
                await self.send_untimed(command, check_health)
        except TimeoutError:
            raise RedisTimeoutError("Timeout writing to socket") from None

    async def send_untimed(self, command: Any, check_health: bool = True) -> None:
        """Like `send_packed_command`, for a caller that limits the time itself."""
        seconds, self.socket_timeout = self.socket_timeout, None
        try:
            await cast(Any, super()).send_packed_command(command, check_health)
        finally:
            self.socket_timeout = seconds

    async def read_response(self, *args: Any, **options: Any) -> Any:
        try:
            return await cast(Any, super()).read_response(*args, **options)
        except ResponseError as error:
            self.is_refused = self.is_refused or _is_of_replica(error)
            raise

    async def connect(self) -> None:
        if not self.is_connected:
            if self.ssl_context is not None:
                self.ssl_context.context = (
                    None  # read its files again: certificates are replaced in place
                )
            await run_to_end(self._open())
            self.is_refused = False

    async def _open(self) -> None:
        # The greeting too: a frozen server's kernel still connects, and a read that blocks may wait for long.
        seconds, self.socket_timeout = self.socket_timeout, self.socket_connect_timeout
        try:
            await cast(Any, super()).connect()
        finally:
            self.socket_timeout = seconds


def _is_of_replica(error: ResponseError) -> bool:
    if isinstance(error, ReadOnlyError | MasterDownError):
        return True
    # The first two: a script's error in Redis 6.2. UNBLOCKED: a read was ended, its connection is closed.
    return any(code in str(error) for code in ("READONLY ", "MASTERDOWN ", "UNBLOCKED "))
