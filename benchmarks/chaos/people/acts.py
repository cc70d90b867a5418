"""What people do with each review of the plan. New work comes at a fixed rate, however slow
the answers are.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine, Mapping
from typing import Any

from benchmarks.chaos.chats import Answer, Card, Chat, Element
from benchmarks.chaos.journal import Journal
from benchmarks.chaos.names import Names
from benchmarks.chaos.people.board import Board, find_element
from benchmarks.chaos.people.clicker import Clicker
from benchmarks.chaos.plan import DEADLINE, Item

#: How often a person presses, and the seconds between two presses.
TRIES, PAUSE = 12, 0.7
#: How long a person waits for a card, in seconds.
PATIENCE = 20.0
#: So many people are writers, who fill in forms. Each of them has only one form open at a time.
WRITERS = 40
Act = Coroutine[Any, Any, object]


class People:
    """`reviews`: by the number of an item, the id of its review. It is filled during the run, when a submit
    is acknowledged.
    """

    def __init__(
        self,
        chat: Chat,
        board: Board,
        clicker: Clicker,
        journal: Journal,
        reviews: dict[int, str],
        names: Names,
    ) -> None:
        self._chat, self._board, self._clicker, self._journal = chat, board, clicker, journal
        self._reviews, self._names = reviews, names
        self._writers = asyncio.Queue[str]()
        for writer in names.people[:WRITERS]:
            self._writers.put_nowait(writer)

    async def act(self, item: Item, chance: random.Random) -> None:
        """All that people do with this review."""
        one, two, three = chance.sample(self._names.people[WRITERS:], 3)
        late = chance.uniform(-0.4, 0.4)
        match item.kind:
            case "approve":
                await self._press_with_retries(item, one)
            case "reject":
                await self._reject(item)
            case "quorum":
                await _together(
                    self._press_with_retries(item, one), self._press_with_retries(item, two)
                )
            case "pair":
                await _together(
                    self._press_with_retries(item, one),
                    self._press_with_retries(item, two, action="2"),
                )
            case "race":
                await _together(self._press_with_retries(item, one), self._reject(item))
            case "double":
                await _together(
                    self._press_with_retries(item, one), self._press_with_retries(item, one)
                )
            case "stranger":
                await self._press_with_retries(item, self._names.stranger, tries=1)
                await self._press_with_retries(item, one)
            case "requester":
                await self._press_with_retries(item, item.requester, tries=1)
                await self._press_with_retries(item, one)
            case "edit":
                await self._edit(item)
            case "stale":
                await self._edit_and_press_the_old_card(item, one, two, three)
            case "deadline":
                await asyncio.sleep(DEADLINE + late)
                approves = chance.random() < 0.7
                await (
                    self._press_with_retries(item, one, patience=0.0)
                    if approves
                    else self._reject(item, 0.0)
                )
            case "timer":
                pass

    async def _look(
        self,
        item: Item,
        user: str,
        verb: str,
        patience: float,
        revision: int | None = None,
        action: str = "1",
    ) -> tuple[Card, Element] | None:
        """Waits for the card with this button, as this person sees it. None if it doesn't come, or the
        action is decided.
        """
        end = asyncio.get_running_loop().time() + patience
        while True:
            review = self._reviews.get(item.number, "")
            card = self._board.card(review, item.channel)
            element = find_element(card, verb, action, user) if card else None
            if card and element and revision in (None, element.revision):
                return card, element
            if card and find_element(card, "approve", action, user) is None:
                return None  # the action is decided
            if asyncio.get_running_loop().time() >= end:
                return None
            await asyncio.sleep(0.1)

    async def _press(
        self, item: Item, user: str, card: Card, element: Element, verb: str = ""
    ) -> Answer:
        return await self._clicker.press(
            user, card, element,
            number=item.number, review=self._reviews[item.number], verb=verb or element.verb,
            revision=element.revision, action=element.action,
        )  # fmt: skip

    async def _press_with_retries(
        self,
        item: Item,
        user: str,
        *,
        tries: int = TRIES,
        patience: float = PATIENCE,
        revision: int | None = None,
        action: str = "1",
    ) -> Answer | None:
        """Presses again as long as the bot asks for it. None if the button never appeared."""
        answer = None
        for _ in range(tries):
            left = patience if answer is None else 0.0
            found = await self._look(item, user, "approve", left, revision, action)
            if found is None:
                break
            answer = await self._press(item, user, *found)
            if not answer.may_press_again:
                break
            await asyncio.sleep(PAUSE)
        return answer

    async def _fill_form(
        self, item: Item, verb: str, values: Mapping[str, str], patience: float = PATIENCE
    ) -> bool:
        """Presses a button that opens a form, and sends the form. Returns whether it was accepted."""
        user = await self._writers.get()
        try:
            for _ in range(TRIES):
                found = await self._look(item, user, verb, patience)
                if found is None:
                    return False
                answer = await self._press(item, user, *found, verb=f"open {verb}")
                if answer.is_acknowledged:
                    done = await self._submit(item, user, found[0], verb, values)
                    if done is not None:
                        return done
                elif not answer.may_press_again:
                    return False
                await asyncio.sleep(PAUSE)
            return False
        finally:
            self._writers.put_nowait(user)

    async def _submit(
        self, item: Item, user: str, card: Card, verb: str, values: Mapping[str, str]
    ) -> bool | None:
        """Returns whether the open form was accepted, or None if it must be opened again."""
        entry = {"number": item.number, "review": card.review, "user": user, "verb": verb}
        try:
            for _ in range(TRIES):
                if not self._chat.has_form(user, card):
                    return None
                self._journal.write(**entry)
                answer = await self._chat.send_form(user, card, values)
                self._journal.write(**entry, status=answer.status, notice=answer.notice)
                if answer.status == 200:
                    return answer.is_acknowledged or None
                await asyncio.sleep(PAUSE)
            return None
        finally:
            await self._chat.close_form(user, card)

    async def _edit_and_press_the_old_card(self, item: Item, *users: str) -> None:
        found = await self._look(item, users[0], "approve", PATIENCE)
        if found is None:
            return
        edited = await self._edit(item)
        if edited:
            await self._press(item, users[0], *found, verb="stale")
        revision = 2 if edited else None
        await _together(
            *(self._press_with_retries(item, user, revision=revision) for user in users[1:])
        )

    async def _edit(self, item: Item) -> bool:
        return await self._fill_form(item, "edit", {"amount": str(item.edited_arguments["amount"])})

    async def _reject(self, item: Item, patience: float = PATIENCE) -> bool:
        return await self._fill_form(item, "reject", {}, patience)


async def _together(*acts: Act) -> None:
    await asyncio.gather(*acts)
