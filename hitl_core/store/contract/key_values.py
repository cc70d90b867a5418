"""Small values in the store: locks, heartbeats and slots of processes, tokens, temporary values, home views,
and a channel's own data.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from hitl_core.errors import HitlError, StoreError
from hitl_core.model import Token


class Coordination(Protocol):
    """Every value here expires by itself."""

    async def try_lock(self, name: str, ttl: float) -> bool:
        """True for one caller within `ttl` seconds: for work that one replica does for all."""
        ...

    async def hold_thread(self, agent: str, thread_id: str, owner: str, ttl: float) -> bool:
        """Lock an agent's thread. True for one owner, until it releases the thread or `ttl` seconds are over.
        The owner may take it again: then its time begins again.
        """
        ...

    async def release_thread(self, agent: str, thread_id: str, owner: str) -> None:
        """End the lock of this owner, so that another one can have it."""
        ...

    async def send_heartbeat(self, process: str, ttl: float) -> None:
        """Mark this process as alive for `ttl` seconds."""
        ...

    async def is_alive(self, process: str) -> bool: ...

    async def take_slot(self, name: str, every: float, burst: int = 1) -> float:
        """Take one call to a rate-limited service that all bots share: one slot every `every` seconds, of
        which up to `burst` can be used at once. Returns 0 if the caller may call now. Otherwise nothing is
        taken, and the result is in how many seconds to ask again.
        """
        ...

    async def pause_slots(self, name: str, seconds: float) -> None:
        """Give no new slot for `seconds`, because the service asked for a pause."""
        ...


class Tokens(Protocol):
    """The tokens of the HTTP API, kept until they are revoked."""

    async def save_token(self, token: Token) -> None: ...

    async def token(self, token_id: str) -> Token | None: ...

    async def tokens(self) -> list[Token]:
        """Those that can be read, the oldest first."""
        ...

    async def damaged_tokens(self) -> list[str]:
        """The ids of the tokens that this version can't read. `drop_token` takes them."""
        ...

    async def drop_token(self, token_id: str) -> bool:
        """Revoke the token. False if there was none."""
        ...


class ChannelData(Protocol):
    """A channel's own data, by name; `channel` is the channel's name. Kept until the channel drops it."""

    async def save_channel_value(self, channel: str, name: str, data: bytes) -> None: ...

    async def add_channel_value(self, channel: str, name: str, data: bytes) -> bytes:
        """Save `data` if there is no value of this name yet. Returns the stored value, so all bots that add
        one at the same time get the same.
        """
        ...

    async def channel_values(self, channel: str) -> dict[str, bytes]:
        """All values of the channel, by name."""
        ...

    async def drop_channel_value(self, channel: str, name: str) -> None: ...


class TemporaryValues(Protocol):
    """Every value here expires by itself."""

    async def save_temporary_value(self, key: str, data: bytes, ttl: float) -> None:
        """Save what a person has typed so far, or what a bot has done, for `ttl` seconds. Anyone who knows
        the key can read it.
        """
        ...

    async def temporary_value(self, key: str) -> bytes | None: ...

    async def drop_temporary_value(self, key: str) -> None: ...

    async def replace_temporary_value(
        self, key: str, old: bytes | None, new: bytes | None, ttl: float
    ) -> bool:
        """Save `new` for `ttl` seconds if the value is still `old`; None: there is none. False if it is
        another one. A repeated call succeeds again. No value is empty.
        """
        ...

    async def record_home_view(self, user: str, now: float) -> None:
        """Record that this person (by their key, with the channel) has just opened the app's home page.
        Deleted after an hour.
        """
        ...

    async def home_viewers(self, since: float) -> list[str]:
        """The people who opened the home page at `since` or later, the latest first."""
        ...


class _TimedValues(TemporaryValues, Protocol):
    async def now(self) -> float: ...


async def change_temporary_value(
    store: _TimedValues,
    key: str,
    change: Callable[[bytes | None, float], bytes | None],
    ttl: float,
) -> None:
    """Replace a value that several processes change, by what `change` makes of it at the store's time. It is
    called again each time another process was faster. If it returns the value itself, nothing is written.
    """
    while True:
        old, now = await asyncio.gather(store.temporary_value(key), store.now())
        new = change(old, now)
        if new is old or await store.replace_temporary_value(key, old, new, ttl):
            return


class LaneFailure(NamedTuple):
    """Why the jobs of a lane fail, and when that was seen, by the store's clock."""

    why: str
    at: float


#: How long a lane's failure is kept, in seconds: longer than a bot waits until it tries the lane again.
_KEEP_FAILURE = 180.0


async def note_lane_failure(store: _TimedValues, lane: str, why: str) -> None:
    """Note why a job of the lane failed, so that people can read why its cards wait. If the store takes no
    note, there is none.
    """
    with suppress(HitlError):
        data = json.dumps(LaneFailure(why, await store.now())).encode()
        await store.save_temporary_value(f"failure:{lane}", data, _KEEP_FAILURE)


async def lane_failure(store: TemporaryValues, lane: str) -> LaneFailure | None:
    """The last failure of the lane; None if there was none recently, or if the note can't be read."""
    try:
        why, at = json.loads(await store.temporary_value(f"failure:{lane}") or b"")
        return LaneFailure(str(why), float(at))
    except (ValueError, TypeError, StoreError):
        return None
