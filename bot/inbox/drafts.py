"""Drafts: the answers on the other pages of a form that is not submitted yet."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import cast

from hitl_core.errors import Refused, StoreError, StoreUnavailable
from hitl_core.store import Store

from .. import click_budget
from .reply import STORE_UNAVAILABLE

log = logging.getLogger(__name__)

#: How long a draft is kept after its last change, in seconds.
DRAFT_TTL = 4 * 3600.0


class Drafts:
    """Answers by field, with one key for each form and person. Methods raise Refused if the store can't be
    reached.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def load(self, key: str) -> dict[str, str | None]:
        """Raises Refused if the draft has expired."""
        async with _store_timeout():
            data = await self._store.draft(key)
        if data is None:
            raise Refused(
                "gone",
                "What you entered on the other pages has expired, so nothing was changed."
                " Open the form again.",
            )
        return cast("dict[str, str | None]", json.loads(data))

    async def save(self, key: str, answers: Mapping[str, str | None]) -> None:
        async with _store_timeout():
            await self._store.save_draft(key, json.dumps(dict(answers)).encode(), DRAFT_TTL)


@asynccontextmanager
async def _store_timeout() -> AsyncGenerator[None, None]:
    try:
        async with click_budget.timeout("load"):
            yield
    except (TimeoutError, StoreUnavailable, StoreError) as error:
        log.warning("a draft could not be loaded or stored: %s", error)
        raise Refused("unavailable", STORE_UNAVAILABLE) from error
