"""The key that signs the buttons: made by the first bot, and kept in the store, which all bots share."""

from __future__ import annotations

import asyncio
import secrets

from hitl_core.errors import SettingsError
from hitl_core.store import Store

from ...health import Health
from .ids import KEY_BYTES, NAME, ButtonKey

#: The key's name in the store.
KEY_NAME = "button-key"
#: How often a bot compares its key with the stored one, in seconds.
INTERVAL = 30.0
#: The subject of the problem in `Health`.
_SUBJECT = "Teams: the key of the buttons"
_UNREADABLE = "The key of the buttons in Teams can't be read"


class StoredKey:
    """`run` keeps it the same for all bots. If somebody deletes the stored key, a bot that runs stores its
    own again, so that all buttons work. If there is another key, each bot takes it within INTERVAL, and
    reports it: earlier buttons are refused until their cards are drawn again.
    """

    def __init__(self, store: Store, health: Health) -> None:
        self._store, self._health = store, health
        self._data = b""

    async def start(self) -> None:
        """Raises SettingsError, StoreUnavailable."""
        data = await self._store.add_channel_value(NAME, KEY_NAME, secrets.token_bytes(KEY_BYTES))
        try:
            ButtonKey(data)
        except ValueError as error:
            todo = f"Delete {KEY_NAME} in hitl:channel:{NAME}; buttons that are shown stop working"
            raise SettingsError(f"{error} {todo}.") from error
        self._data = data

    def within(self, conversation: str) -> ButtonKey:
        """The key for the buttons of this conversation, known after the start."""
        if not self._data:
            raise RuntimeError("the channel has not been started")
        return ButtonKey(self._data, conversation)

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await asyncio.sleep(INTERVAL)
            with self._health.report_errors("store", f"{_SUBJECT}, stored", _UNREADABLE):
                await self.check()

    async def check(self) -> None:
        """Raises StoreUnavailable, StoreError."""
        stored = await self._store.add_channel_value(NAME, KEY_NAME, self._data)
        if stored == self._data:
            return
        try:
            ButtonKey(stored)
        except ValueError as error:
            text = (
                f"The key of the buttons in Teams was damaged in Redis (hitl:channel:{NAME}, {KEY_NAME}), so"
                f" no bot can start. Delete it: a bot that runs stores its own again. {error}"
            )
        else:
            self._data = stored
            text = (
                "Redis has another key for the buttons in Teams: it was deleted while no bot looked, or"
                " replaced. Buttons that were shown before are refused until their cards are drawn again, at"
                " the latest after about an hour. The app's Home shows new ones."
            )
        self._health.report("store", _SUBJECT, text)
