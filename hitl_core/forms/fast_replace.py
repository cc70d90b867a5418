"""A fast `dataclasses.replace`."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def fast_replace(value: T, **parts: Any) -> T:
    """As `dataclasses.replace`, for classes without slots and `__post_init__`. A form needs hundreds of these
    calls, and `dataclasses.replace` took a third of its time.
    """
    held = vars(value)
    if not parts.keys() <= held.keys():
        raise TypeError(f"{type(value).__name__} has no {', '.join(parts.keys() - held.keys())}.")
    new = object.__new__(type(value))
    new.__dict__.update(held, **parts)
    return new
