"""A gate that opens in a `with` block. Used without one, it says so in a sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar, cast

from hitl_core.errors import GateClosed

P = ParamSpec("P")
T = TypeVar("T")


class GateNotOpen(GateClosed, AttributeError):
    """`connect` was not used in a `with` block. An AttributeError as well, for Python's own `hasattr`."""


class GateConnection:
    """What `connect` returns. Its block opens and closes the gate; any other use raises GateNotOpen."""

    def __init__(self, context_manager: object, block: str) -> None:
        self._context_manager, self._block = context_manager, block

    def __enter__(self) -> Any:
        return self._method("__enter__")()

    def __exit__(self, *error: object) -> Any:
        return self._method("__exit__")(*error)

    def __aenter__(self) -> Any:
        return self._method("__aenter__")()

    def __aexit__(self, *error: object) -> Any:
        return self._method("__aexit__")(*error)

    def __await__(self) -> NoReturn:
        self._refuse()

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse()

    def _method(self, name: str) -> Callable[..., Any]:
        """One for `with` is missing if the gate opens in `async with`, and the other way round."""
        return getattr(self._context_manager, name, self._refuse)

    def _refuse(self, *_: object) -> NoReturn:
        raise GateNotOpen(f"The gate is not open: it opens in a block, `{self._block}`.")


def opens_in(block: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorates a function that returns a context manager: it returns a GateConnection in its place, which
    names this `block` if it is used in any other way.
    """

    def decorate(connect: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(connect)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
            return cast("T", GateConnection(connect(*args, **kwargs), block))

        return wrapper

    return decorate
