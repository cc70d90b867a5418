"""The local Teams of a run. Each answer to a press is a card in place of the pressed one, or a sentence."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.chaos.chats.balancer import Balancer
from benchmarks.chaos.chats.chat import Answer, Card, Element, OpenPort
from benchmarks.chaos.chats.teams_card import TeamsCard, review_of
from benchmarks.chaos.names import names_of
from teams_sandbox.client import read_text
from teams_sandbox.faults import FaultMode
from teams_sandbox.interactions import read_answer
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import running_sandbox
from teams_sandbox.validation import read_press
from teams_sandbox.workspace import Conversation, Message, Team

OPERATIONS = (None, "update", "create")
#: What the faults of a plan are in Teams.
MODES: Mapping[str, FaultMode] = {
    "ratelimited": "limited",
    "http_500": "down",
    "hang": "hang",
    "late": "late",
    "late_answer": "late_answer",
    "ok_but_reset": "lost",
}
#: What a person reads if their decision counts, but what follows can't be shown.
STORED = "Your decision is stored."
GROUP = "c4a05000-0000-4000-8000-0000000000b6"
NAMES = names_of("teams")


class TeamsChat:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox, self._workspace = sandbox, sandbox.workspace
        self._bots, self._link = Balancer([]), ""
        general = NAMES.channel(0)
        team = Team(general, "Chaos", GROUP, [*NAMES.members, NAMES.stranger])
        self._channels = [
            Conversation(id, "channel", f"chaos-{number}" if number else "General", team=team)
            for number, id in enumerate(NAMES.channels)
        ]
        self._workspace.conversations |= {one.id: one for one in self._channels}

    def reach(self, bots: Sequence[str]) -> None:
        self._bots = Balancer([f"{url}/api/messages" for url in bots])

    async def settings(self, open_port: OpenPort) -> Mapping[str, str]:
        """All bots share one link, because each activity has the address of Teams."""
        if not self._link:
            host, _, own = self._sandbox.url.rpartition(":")
            self._link = f"{host}:{await open_port(('127.0.0.1', int(own)))}"
            self._sandbox.url = self._link
        return self._sandbox.settings()

    async def announce(self) -> None:
        """The app was added to the team."""
        self._sandbox.bot_url = self._bots.next_url()
        await self._sandbox.installs.add(NAMES.channel(0), by=NAMES.stranger)

    def messages(self) -> Iterator[tuple[str, dict[str, Message]]]:
        return ((one.id, one.messages) for one in self._channels)

    def card(self, message: Message) -> TeamsCard | None:
        return TeamsCard(message, self._workspace) if review_of(message) else None

    async def press(self, user: str, card: Card, element: Element) -> Answer:
        """Also of a button that is no longer there: a client may show it a while longer."""
        assert isinstance(card, TeamsCard)
        return await self._send(user, card.message, element.source, element.source["data"])

    async def _send(self, user: str, message: Message, action: Any, data: Any) -> Answer:
        person = self._workspace.person(user)
        assert person is not None
        conversation = self._workspace.conversations[message.conversation]
        activity = self._sandbox.activities.press(person, conversation, message, action, data)
        with self._bots.choose() as url:
            self._sandbox.bot_url = url
            sent = await self._sandbox.bot_client.invoke(activity)
        if sent is None:
            self._bots.rest(url)
            return Answer(None)
        result = read_answer(sent)
        if result.card is not None:
            message.cards[user] = result.card
        notice = "" if result.notice == STORED else result.notice
        return Answer(500 if result.error else 200, notice or result.problem)

    def page(self, user: str, card: Card) -> list[Element]:
        assert isinstance(card, TeamsCard)
        return card.page(user)

    def has_form(self, user: str, card: Card) -> bool:
        assert isinstance(card, TeamsCard)
        return _action(card, user, "send") is not None

    async def send_form(self, user: str, card: Card, values: Mapping[str, str]) -> Answer:
        assert isinstance(card, TeamsCard)
        send, shown = _action(card, user, "send"), card.message.card_for(user)
        assert send is not None
        assert shown is not None
        ids = card.input_ids(user)
        data = read_press(shown, send, {ids[label]: value for label, value in values.items()})
        answer = await self._send(user, card.message, send, data)
        if answer.is_acknowledged and _action(card, user, "close") is not None:
            left = card.message.card_for(user)  # the form again, or a notice in its place
            return Answer(200, read_text(left) if left else "")
        return answer

    async def close_form(self, user: str, card: Card) -> None:
        assert isinstance(card, TeamsCard)
        if (close := _action(card, user, "close")) is not None:
            answer = await self._send(user, card.message, close, close["data"])
            if not answer.is_acknowledged:
                card.message.cards.pop(user, None)  # as after opening Teams again

    def fail(self, what: str, pick: int) -> Callable[[], None]:
        operation = OPERATIONS[pick // 3 % 3]
        return self._sandbox.faults.add(MODES[what], operation, times=1 + pick % 3).release

    def end_faults(self) -> None:
        self._sandbox.faults.clear()


def _action(card: TeamsCard, user: str, verb: str) -> dict[str, Any] | None:
    """What sends or leaves the form that this person has open; None without a form."""
    return next((one for one in card.actions(user) if one["verb"] == verb), None)


@asynccontextmanager
async def open_teams(scale: float) -> AsyncGenerator[TeamsChat, None]:
    async with running_sandbox(rate_limits=scale) as sandbox:
        yield TeamsChat(sandbox)
