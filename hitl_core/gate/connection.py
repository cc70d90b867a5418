"""What `connect` returns: a gate that opens in a `with` block. Used without one, it says so in a sentence."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from types import TracebackType
from typing import Generic, NoReturn, ParamSpec, TypeVar

from hitl_core.errors import GateClosed

P = ParamSpec("P")
T = TypeVar("T")


class GateNotOpen(GateClosed, AttributeError):
    """`connect` was not used in a `with` block. An AttributeError as well, for Python's own `hasattr`."""


class AsyncConnection(AbstractAsyncContextManager[T], Generic[T]):
    """Opens a gate: `async with Gate.connect(…) as gate`."""

    def __init__(self, opening: AbstractAsyncContextManager[T]) -> None:
        self._opening = opening

    async def __aenter__(self) -> T:
        return await self._opening.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return await self._opening.__aexit__(kind, error, traceback)

    def __getattr__(self, name: str) -> NoReturn:
        raise _not_open("async with Gate.connect(…) as gate:")

    def __await__(self) -> NoReturn:
        raise _not_open("async with Gate.connect(…) as gate:")

    def __enter__(self) -> NoReturn:
        raise _not_open("async with Gate.connect(…) as gate:")

    def __exit__(self, *exc: object) -> None:
        """Never called: Python looks for it before it calls `__enter__`."""


class Connection(AbstractContextManager[T], Generic[T]):
    """Opens a blocking gate: `with blocking.connect(…) as gate`."""

    def __init__(self, opening: AbstractContextManager[T]) -> None:
        self._opening = opening

    def __enter__(self) -> T:
        return self._opening.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return self._opening.__exit__(kind, error, traceback)

    def __getattr__(self, name: str) -> NoReturn:
        raise _not_open("with blocking.connect(…) as gate:")


def async_connection(
    connect: Callable[P, AsyncGenerator[T, None]],
) -> Callable[P, AsyncConnection[T]]:
    """`contextlib.asynccontextmanager` for a gate."""
    open_gate = asynccontextmanager(connect)

    @functools.wraps(connect)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> AsyncConnection[T]:
        return AsyncConnection(open_gate(*args, **kwargs))

    return wrapper


def connection(connect: Callable[P, Generator[T, None, None]]) -> Callable[P, Connection[T]]:
    """`contextlib.contextmanager` for a blocking gate."""
    open_gate = contextmanager(connect)

    @functools.wraps(connect)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Connection[T]:
        return Connection(open_gate(*args, **kwargs))

    return wrapper


def _not_open(form: str) -> GateNotOpen:
    return GateNotOpen(f"The gate is not open: it opens in a block, `{form}`.")
