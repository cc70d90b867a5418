"""What each open Home shows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from hitl_core.store import Store

#: How long a Home is updated after it was opened, in seconds.
KEEP_FOR = 600.0


@dataclass(frozen=True)
class HomeView:
    """The page that a Home shows. `sent`: the hash of what was sent; "" if unknown. `message`: its message,
    in a channel whose Homes are messages. `is_covered`: a form or page is shown in its place, and an update
    would remove it.
    """

    page: int = 0
    sent: str = ""
    message: str = ""
    is_covered: bool = False


class HomeViews:
    """What each open Home shows. It is in the store, because all bots share it. `person` is a person's key,
    with the channel. Every method raises StoreUnavailable or StoreError.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def record_open(self, person: str) -> None:
        """Record that this Home was opened: it is updated for a while."""
        await self._store.record_home_view(person, await self._store.now())

    async def load(self, person: str) -> HomeView:
        try:
            return HomeView(**json.loads(await self._store.temporary_value(_key(person)) or b"{}"))
        except (TypeError, ValueError):  # another version wrote it
            return HomeView()

    async def save(self, person: str, view: HomeView) -> None:
        data = json.dumps(asdict(view)).encode()
        await self._store.save_temporary_value(_key(person), data, KEEP_FOR)

    async def forget(self, person: str) -> None:
        """Forget what this Home shows, so that the next update is sent even if nothing changed."""
        await self._store.drop_temporary_value(_key(person))


def _key(person: str) -> str:
    return f"home:{person}"
