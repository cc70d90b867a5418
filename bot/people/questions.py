"""Asks several look-ups, or one within the time of a click, without making unknown a yes or a no."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from hitl_core.errors import Refused

from .. import click_budget, refusals
from ..channels.contract import ChannelError, LookupFailed, Undeliverable

log = logging.getLogger(__name__)

T = TypeVar("T")


async def any_yes(questions: Iterable[Callable[[], Awaitable[bool]]]) -> bool:
    """True at the first yes, False if all are no. Otherwise raises the first ChannelError."""
    unknown: ChannelError | None = None
    for question in questions:
        try:
            if await question():
                return True
        except ChannelError as error:
            unknown = unknown or error
    if unknown is not None:
        raise unknown
    return False


async def answer_in_time(question: Awaitable[T]) -> T:
    """Waits for a look-up. Raises Refused if it fails or is too slow."""
    try:
        async with click_budget.timeout("lookup"):
            return await question
    except (LookupFailed, Undeliverable) as error:
        raise Refused("unavailable", refusals.unknown_deciders(error)) from error
    except (TimeoutError, ChannelError) as error:
        log.warning("who may decide could not be looked up: %s", error or "it took too long")
        raise Refused("unavailable", refusals.LOOKUP_UNAVAILABLE) from error
