"""A gate that opens in a `with` block. Used without one, it says so in a sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar, cast

from hitl_core.errors import GateClosed

P = ParamSpec("P")
T = TypeVar("T")

_WAYS_TO_OPEN = ("__enter__", "__exit__", "__aenter__", "__aexit__", "__await__")


class GateNotOpen(GateClosed, AttributeError):
    """`connect` was not used in a `with` block. An AttributeError as well, for Python's own `hasattr`."""


def opens_in(block: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorates what returns a context manager: any use of that but in this block raises GateNotOpen."""

    def refuse(*_: object) -> NoReturn:
        raise GateNotOpen(f"The gate is not open: it opens in a block, `{block}`.")

    def decorate(connect: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(connect)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
            opening: Any = connect(*args, **kwargs)
            kind = cast("type[Any]", type(opening))
            others = {name: refuse for name in _WAYS_TO_OPEN if not hasattr(kind, name)}
            opening.__class__ = type(kind.__name__, (kind,), {"__getattr__": refuse, **others})
            return opening

        return wrapper

    return decorate
