"""Drafts: the answers on the other pages of a form that is not submitted yet."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

from hitl_core.errors import Refused, StoreError, StoreUnavailable
from hitl_core.forms import Answers
from hitl_core.model import Reviewer
from hitl_core.store import Store

from .. import click_budget, refusals

log = logging.getLogger(__name__)

#: How long a draft is kept after its last change, in seconds.
DRAFT_TTL = 4 * 3600.0


class Drafts:
    """The answers of each open form (`session_id`) of a person. Methods raise Refused if the store can't be
    reached.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def load(self, session_id: str, who: Reviewer) -> Answers:
        """Raises Refused if the draft has expired."""
        async with _store_timeout():
            data = await self._store.draft(_key(session_id, who))
        if data is None:
            raise Refused("gone", refusals.DRAFT_EXPIRED)
        return cast(Answers, json.loads(data))

    async def save(self, session_id: str, who: Reviewer, answers: Answers) -> None:
        data = json.dumps(dict(answers)).encode()
        async with _store_timeout():
            await self._store.save_draft(_key(session_id, who), data, DRAFT_TTL)


def _key(session_id: str, who: Reviewer) -> str:
    return f"form:{session_id}:{who.key}"


@asynccontextmanager
async def _store_timeout() -> AsyncGenerator[None, None]:
    try:
        async with click_budget.timeout("load"):
            yield
    except (TimeoutError, StoreUnavailable, StoreError) as error:
        log.warning("a draft could not be loaded or stored: %s", error)
        raise Refused("unavailable", refusals.STORE_UNAVAILABLE) from error
