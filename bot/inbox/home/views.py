"""What each open Home shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from hitl_core.store import Store, change_temporary_value

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
        return _read(await self._store.temporary_value(_key(person)))

    async def save(self, person: str, view: HomeView) -> None:
        await self._store.save_temporary_value(_key(person), _to_json(view), KEEP_FOR)

    async def change(self, person: str, change: Callable[[HomeView], HomeView | None]) -> None:
        """Save what `change` makes of the view as it is now, which another bot may have changed; None: it
        stays. It may be called several times.
        """

        def change_data(data: bytes | None, now: float) -> bytes | None:
            after = change(_read(data))
            return data if after is None else _to_json(after)

        await change_temporary_value(self._store, _key(person), change_data, KEEP_FOR)

    async def replace(self, person: str, known: HomeView, sent: HomeView) -> None:
        """Save what was sent. If the view is not as it was known before, the next update sends it again."""
        await self.change(person, lambda now: sent if now == known else replace(now, sent=""))

    async def forget(self, person: str) -> None:
        """Forget what this Home shows, so that the next update is sent even if nothing changed."""
        await self._store.drop_temporary_value(_key(person))


def _key(person: str) -> str:
    return f"home:{person}"


def _read(data: bytes | None) -> HomeView:
    try:
        return HomeView(**json.loads(data or b"{}"))
    except (TypeError, ValueError):  # another version wrote it
        return HomeView()


def _to_json(view: HomeView) -> bytes:
    return json.dumps(asdict(view)).encode()
