"""True answers about calls in doubt: a person checks whether the tool ran, and says so."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from benchmarks.chaos.chats import Card, Element
from benchmarks.chaos.journal import read_journal
from benchmarks.chaos.names import names_of
from benchmarks.chaos.people.board import Board
from benchmarks.chaos.people.clicker import Clicker
from benchmarks.chaos.plan import Plan

EVERY = 1.0
#: A card, and the buttons of one of its calls, by verb.
Question = tuple[Card, dict[str, Element]]


class Doubts:
    def __init__(self, board: Board, clicker: Clicker, tools: Path, plan: Plan) -> None:
        self._board, self._clicker, self._tools = board, clicker, tools
        self._people = names_of(plan.chat).people
        self._chance = random.Random(f"doubts {plan.seed}")
        #: By card, a drawing that asks nothing. Cards are checked again only after an update.
        self._silent: dict[Card, object] = {}

    async def answer(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            if asked := [one for card in self._board.all_cards() for one in self._questions(card)]:
                ran = {(entry["review"], entry["call"]) for entry in read_journal(self._tools)}
                await asyncio.gather(*(self._answer(*one, ran) for one in asked))

    def _questions(self, card: Card) -> list[Question]:
        """The card's calls in doubt. Cards without any are remembered, because there are thousands."""
        if self._silent.get(card) is card.drawing:
            return []
        found = card.elements()
        asked = [one.action for one in found if one.verb == "ran"]
        if not asked:
            self._silent[card] = card.drawing
        return [(card, {one.verb: one for one in found if one.action == id}) for id in asked]

    async def _answer(
        self, card: Card, by_verb: dict[str, Element], ran: set[tuple[str, str]]
    ) -> None:
        review, action = card.review, by_verb["ran"].action
        verb = (
            "ran"
            if (review, f"c{action}") in ran
            else self._chance.choice(("rerun", "rerun", "skip"))
        )
        for user in self._chance.sample(
            self._people, 2
        ):  # if two people must approve, two must answer
            await self._clicker.press(
                user, card, by_verb[verb], review=review, verb=verb, action=action
            )
