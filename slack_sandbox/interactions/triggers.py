"""Trigger ids: the right to open one modal, for three seconds after a click.

https://docs.slack.dev/interactivity/handling-user-interaction#modal_responses
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import SlackError

LIFETIME = 3.0
_FORMAT = re.compile(r"\d+\.\d+\.[0-9a-f]+")


@dataclass
class _Trigger:
    user: str
    tab: str | None
    issued: float
    used: bool = False


class Triggers:
    def __init__(self, now: Callable[[], float], lifetime: float = LIFETIME) -> None:
        self._now, self._lifetime = now, lifetime
        self._issued: dict[str, _Trigger] = {}

    def issue(self, user: str, tab: str | None = None) -> str:
        """A new trigger id for a click. `tab`: the browser tab in which the person clicked, if known."""
        trigger_id = (
            f"{int(self._now() * 1000)}.{secrets.randbelow(10**10)}.{secrets.token_hex(16)}"
        )
        self._issued[trigger_id] = _Trigger(user, tab, self._now())
        return trigger_id

    def holder(self, trigger_id: object) -> str:
        """The user who clicked. Raises Slack's error for a trigger that can't be used."""
        if not isinstance(trigger_id, str) or not _FORMAT.fullmatch(trigger_id):
            raise SlackError("invalid_trigger_id")
        trigger = self._issued.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._now() - trigger.issued > self._lifetime:
            raise SlackError("expired_trigger_id")
        return trigger.user

    def use(self, trigger_id: str) -> None:
        self._issued[trigger_id].used = True

    def tab(self, trigger_id: str) -> str | None:
        """The tab of the browser in which the click was made."""
        return self._issued[trigger_id].tab
