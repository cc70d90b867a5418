"""The time limit for reading the store during a click."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from hitl_core.errors import Refused, StoreError, StoreUnavailable

from .. import click_budget, refusals

log = logging.getLogger(__name__)


@asynccontextmanager
async def store_timeout(what: str) -> AsyncGenerator[None]:
    """Raises Refused if the store fails in the block, or is too slow. `what`: what is read or stored."""
    try:
        async with click_budget.timeout("load"):
            yield
    except (TimeoutError, StoreUnavailable, StoreError) as error:
        log.warning("%s could not be read or stored: %s", what, error)
        raise Refused("unavailable", refusals.STORE_UNAVAILABLE) from error
