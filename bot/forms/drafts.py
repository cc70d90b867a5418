"""Drafts: the answers on the other pages of a form that is not submitted yet.

Each save has a number, and the page that is shown after it has the same. So an earlier page, which arrives
late or is still open on another device, is recognized: saving it would lose what was entered since.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple

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

    async def load(self, session_id: str, who: Reviewer, number: int) -> Answers:
        """The draft, for the page with this number. Raises Refused if it has expired, or if that page is from
        before.
        """
        draft = await self._find(session_id, who)
        if draft is None:
            raise Refused("gone", refusals.DRAFT_EXPIRED)
        _check_newest(draft, number)
        return draft.answers

    async def save(self, session_id: str, who: Reviewer, answers: Answers, number: int) -> None:
        """`number`: of this save, from 1. Raises Refused if the form's first page is from before."""
        if number == 1 and (draft := await self._find(session_id, who)) is not None:
            _check_newest(draft, 0)
        data = json.dumps(_Draft(number, dict(answers))).encode()
        async with _store_timeout():
            await self._store.save_draft(_key(session_id, who), data, DRAFT_TTL)

    async def _find(self, session_id: str, who: Reviewer) -> _Draft | None:
        async with _store_timeout():
            data = await self._store.draft(_key(session_id, who))
        return None if data is None else _Draft(*json.loads(data))


class _Draft(NamedTuple):
    number: int
    answers: dict[str, str | None]


def _check_newest(draft: _Draft, number: int) -> None:
    """Raises Refused. One save more is no other page: its answer may be lost, and the page was sent again."""
    if draft.number not in (number, number + 1):
        raise Refused("gone", refusals.FORM_WENT_ON)


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
