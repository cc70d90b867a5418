"""Drafts: the answers on the other pages of a form that is not submitted yet.

Each save has an id: a hash of the answers and of the id before. The page that is shown next has this id too.
A page with an older id, which arrives late or is still open on another device, is refused: saving it would
lose what was entered since, and sending it would send answers that it doesn't show.
"""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from hitl_core.errors import Refused
from hitl_core.forms import Answers
from hitl_core.model import Reviewer
from hitl_core.store import Store

from .. import refusals
from ..inbox import store_timeout

#: How long a draft is kept after its last change, in seconds.
DRAFT_TTL = 4 * 3600.0


class Drafts:
    """The answers of each open form (`session_id`) of a person. Methods raise Refused if the store can't be
    reached.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def load(self, session_id: str, who: Reviewer, id: str) -> Answers | None:
        """The draft, for the page with this id; None for "", the form's first page. Raises Refused if it has
        expired, or if the page is older than it.
        """
        if not id:
            return None
        draft = await self._find(session_id, who)
        if draft is None:
            raise Refused("gone", refusals.DRAFT_EXPIRED)
        _check_newest(draft, id)
        return draft.answers

    async def save(self, session_id: str, who: Reviewer, answers: Answers, before: str) -> str:
        """Returns the id of this save. `before`: the id of the page that was sent; "" for the form's first
        page. Raises Refused if that page is older than the draft.
        """
        if not before and (draft := await self._find(session_id, who)) is not None:
            _check_newest(draft, before)
        draft = _Draft(_make_id(before, answers), before, dict(answers))
        async with store_timeout("a draft"):
            await self._store.save_temporary_value(
                _key(session_id, who), json.dumps(draft._asdict()).encode(), DRAFT_TTL
            )
        return draft.id

    async def _find(self, session_id: str, who: Reviewer) -> _Draft | None:
        async with store_timeout("a draft"):
            data = await self._store.temporary_value(_key(session_id, who))
        return None if data is None else _read_draft(data)


class _Draft(NamedTuple):
    id: str
    before: str
    answers: dict[str, str | None]


def _read_draft(data: bytes) -> _Draft:
    """Raises Refused for a draft of another version of this program: what it has is not lost in silence."""
    try:
        draft = _Draft(**json.loads(data))
    except (TypeError, ValueError) as error:
        raise Refused("gone", refusals.DRAFT_UNREADABLE) from error
    return draft


def _make_id(before: str, answers: Answers) -> str:
    identity = json.dumps([before, dict(answers)], sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def _check_newest(draft: _Draft, id: str) -> None:
    """Raises Refused if the page with this id is older than the draft. The page before the last save is not:
    the answer to that save may be lost, and then this page is sent again. If both get an answer, only the
    page that follows the later save can be sent.
    """
    if id not in (draft.id, draft.before):
        raise Refused("gone", refusals.FORM_WENT_ON)


def _key(session_id: str, who: Reviewer) -> str:
    return f"form:{session_id}:{who.key}"
