"""People who open digests and decide what they find there: on one review after the other."""

from __future__ import annotations

import asyncio
import random

from benchmarks.chaos.chats import Card, Chat
from benchmarks.chaos.names import names_of
from benchmarks.chaos.people.board import Board
from benchmarks.chaos.people.clicker import Clicker
from benchmarks.chaos.plan import Plan
from benchmarks.chaos.verdict.evidence import Submits

#: How many people do this, how many reviews each decides on before they close the digest, and the seconds
#: between two presses.
READERS, PAGES, PAUSE = 8, 6, 0.3


class DigestReaders:
    def __init__(
        self, chat: Chat, board: Board, clicker: Clicker, submits: Submits, plan: Plan
    ) -> None:
        self._chat, self._board, self._clicker, self._submits = chat, board, clicker, submits
        self._people = names_of(plan.chat).people[-READERS:]
        self._stops = False
        self._chance = random.Random(f"digests {plan.seed}")

    def stop(self) -> None:
        self._stops = True

    async def read(self) -> None:
        """Returns after `stop`, when nobody has a digest open."""
        await asyncio.gather(*(self._read(user) for user in self._people))

    async def _read(self, user: str) -> None:
        while not self._stops:
            await asyncio.sleep(PAUSE)
            if not (cards := self._board.digests()):
                continue
            card = self._chance.choice(cards)
            opening = next((o for o in card.elements(user) if o.verb == "review"), None)
            if opening is None:  # nothing waits there
                continue
            answer = await self._clicker.press(
                user, card, opening, review=card.review, verb="open digest"
            )
            if answer.is_acknowledged:
                await self._decide(user, card)
            await self._chat.close_form(user, card)

    async def _decide(self, user: str, card: Card) -> None:
        for _ in range(PAGES):
            await asyncio.sleep(PAUSE)
            found = next((o for o in self._chat.page(user, card) if o.verb == "approve"), None)
            if found is None:
                return
            review = found.value.split(".")[1]
            numbers = {one["review"]: number for number, one in self._submits.read().first.items()}
            if review not in numbers:  # its submit is not acknowledged yet
                return
            answer = await self._clicker.press(
                user, card, found, number=numbers[review], review=review, verb="approve",
                revision=found.revision, action=found.action,
            )  # fmt: skip
            if not answer.is_acknowledged:
                return
