"""What each open Home shows. It is in the store, because all bots of one Redis share it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hitl_core.store import Store

#: How long a Home is updated after it was opened, in seconds.
KEEP_FOR = 600.0


@dataclass(frozen=True)
class HomeView:
    """The page that a Home shows, and the digest of what was sent; "" if it is not known."""

    page: int = 0
    digest: str = ""


class HomeViews:
    """Every method raises StoreUnavailable or StoreError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def record_open(self, user_id: str) -> None:
        """From now on this Home is updated for a while."""
        await self._store.record_home_view(user_id, await self._store.now())

    async def load(self, user_id: str) -> HomeView:
        fields = json.loads(await self._store.draft(_key(user_id)) or b"{}")
        return HomeView(**fields)

    async def save(self, user_id: str, view: HomeView) -> None:
        data = json.dumps({"page": view.page, "digest": view.digest}).encode()
        await self._store.save_draft(_key(user_id), data, KEEP_FOR)

    async def forget(self, user_id: str) -> None:
        """The next update is sent, also if nothing changed."""
        await self._store.drop_draft(_key(user_id))


def _key(user_id: str) -> str:
    return f"home:{user_id}"
