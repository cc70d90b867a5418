"""Presses a button, and records what the person sees."""

from __future__ import annotations

import itertools
import time
from typing import Any

from benchmarks.chaos.chats import Answer, Card, Chat, Element
from benchmarks.chaos.journal import Journal


class Clicker:
    """Writes every press to the journal before it is sent, and again with its answer."""

    def __init__(self, chat: Chat, journal: Journal) -> None:
        self._chat, self._journal = chat, journal
        self._numbers = itertools.count(1)

    async def press(self, user: str, card: Card, element: Element, **known: Any) -> Answer:
        """`known` is added to the entry in the journal."""
        began = time.time()
        entry = {"press": next(self._numbers), "user": user, "value": element.value, **known}
        self._journal.write(at=began, **entry)
        answer = await self._chat.press(user, card, element)
        now = time.time()
        self._journal.write(
            at=now, **entry, seconds=now - began, status=answer.status, notice=answer.notice
        )
        return answer
