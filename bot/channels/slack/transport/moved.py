"""Conversations that have another id now: Slack gives a private channel a new one when it is shared with
another organization, and accepts only that from then on
(docs.slack.dev/reference/events/channel_id_changed).

The reviews, their cards and the lanes keep the first id. It is replaced in what is sent to Slack, and put
back into what Slack sends, so nothing else knows of the change.
"""

from __future__ import annotations

import asyncio

from hitl_core.store import Store

from ....health import Health
from ..places import CONVERSATION_ID, NAME

#: The name of a stored value: this and the old id of one change. The value is the new id.
_MOVED = "moved:"
#: How often a bot loads what the others have recorded, in seconds. Until then it may refuse a button in a
#: conversation with a new id.
INTERVAL = 5.0
_UNKNOWN = "It is not known whether conversations in Slack have other ids now"


class MovedConversations:
    """Without a store, nothing has moved. In the store, because Slack sends the event once, and to one of the
    bots. Async methods raise StoreUnavailable.
    """

    def __init__(self, health: Health, store: Store | None = None) -> None:
        self._health, self._store = health, store
        self._changes: dict[str, str] = {}
        self._current: dict[str, str] = {}
        self._first: dict[str, str] = {}

    def current(self, id: str) -> str:
        """The id by which Slack knows the conversation now."""
        return self._current.get(id, id)

    def first(self, id: str) -> str:
        """The id by which we know the conversation."""
        return self._first.get(id, id)

    async def load(self) -> None:
        """Load what the bots have recorded."""
        if self._store is None:
            return
        changes = dict[str, str]()
        for name, data in (await self._store.channel_values(NAME)).items():
            id = data.decode(errors="replace")
            if name.startswith(_MOVED) and CONVERSATION_ID.fullmatch(id):
                changes[name.removeprefix(_MOVED)] = id
        firsts = changes.keys() - changes.values()
        self._changes = changes
        self._current = {id: _follow(changes, id)[-1] for id in changes}
        self._first = {id: first for first in firsts for id in _follow(changes, first)[1:]}

    async def watch(self) -> None:
        """Load it again and again. Runs until cancelled."""
        while True:
            await asyncio.sleep(INTERVAL)
            with self._health.report_errors("store", "Slack: moved conversations", _UNKNOWN):
                await self.load()

    async def record(self, old: str, new: str) -> None:
        """Record what an event said. Events of one conversation can arrive in any order."""
        if self._store is None:
            return
        await self.load()
        since = _follow(self._changes, new)
        if old in since:  # it has an earlier id again
            for id in since[: since.index(old)]:
                await self._store.drop_channel_value(NAME, _MOVED + id)
        else:
            await self._store.save_channel_value(NAME, _MOVED + old, new.encode())
        await self.load()


def _follow(changes: dict[str, str], id: str) -> list[str]:
    """This id and those that came after it; each once, also if two bots have recorded a circle."""
    ids = [id]
    while (id := changes.get(id, id)) not in ids:
        ids.append(id)
    return ids
