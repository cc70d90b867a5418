"""The channel contract, run on the text channel, which uses nothing of Slack."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.forms import FormPage
from bot.inbox import Home
from hitl_core.model import MessageRef, Place
from tests.channels.contract import ChannelContract, Shown, ShownPage, World
from tests.channels.contract.world import Fault
from tests.support.text_channel.channel import TextChannel
from tests.support.text_channel.forms import LIMITS, form_content
from tests.support.text_channel.home import home_content
from tests.support.text_channel.network import Content, Message, Network, check_content, mentions
from tests.support.text_channel.office import office
from tests.support.text_channel.render import BAR


class TextWorld(World):
    room, alias = Place("text:r-orders"), Place("text:#orders")
    other = Place("text:r-ops")
    direct, group = Place("text:p-ada"), Place("text:g-ops")
    member, outsider, group_id = "p-ada", "p-cy", "g-ops"
    people = {  # noqa: RUF012
        "member": "p-ada",
        "guest": "p-gus",
        "bot": "p-robot",
        "left": "p-lou",
    }
    unusable = {  # noqa: RUF012
        "the room is closed": Place("text:r-old"),
        "the bot is not in it": Place("text:r-secret"),
        "the name of 0 rooms": Place("text:#none"),
        "no such person": Place("text:p-nobody"),
        "no such person,?": Place("text:p-lou"),
        "no such group|is a group": Place("text:g-none"),
        "nobody is in it|is a group": Place("text:g-empty"),
    }
    nasty = (
        "@p-cy",
        "@@p-cy",
        "@@@p-cy",
        "| Approve",
        "\n@p-cy",
        "x\n2  drop_table",
        "x\r\n[Approve]",
    )

    modal_limits = LIMITS

    def __init__(self, network: Network, channel: TextChannel) -> None:
        self.network, self.channel, self._names = network, channel, channel.names

    @property
    def now(self) -> float:
        return self.network.now

    def fail(self, fault: Fault, times: int | None = None) -> None:
        self.network.faults.append([fault, times])

    def recover(self) -> None:
        self.network.faults.clear()

    async def messages(self, place: Place) -> list[Shown]:
        room = await self.channel.conversation_id(place)
        messages = self.network.messages.values()
        return [self._shown(one) for one in messages if one.room == room and not one.thread]

    async def remove(self, ref: MessageRef) -> None:
        del self.network.messages[ref.ts]

    async def forge(self, ref: MessageRef) -> None:
        self.network.post("p-robot", self.network.messages[ref.ts])

    def rename(self, id: str, name: str) -> None:
        if group := self.network.groups.get(id):
            group.name = name
        else:
            self.network.people[id] = replace(self.network.people[id], name=name)

    def show_form(self, page: FormPage) -> ShownPage:
        return _page(form_content(page, "s1"))

    def show_home(self, home: Home) -> ShownPage:
        return _page(home_content(home, self._names))

    def _shown(self, message: Message) -> Shown:
        thread = [one for one in self.network.messages.values() if one.thread == message.id]
        return Shown(
            MessageRef(channel="text", conversation=message.room, ts=message.id),
            _read(message.content),
            tuple(button.label for button in message.content.buttons),
            tuple(button.token for button in message.content.buttons),
            tuple(_read(one.content) for one in thread),
            frozenset(
                person
                for one in (message, *thread)
                for line in one.content.lines
                for person in mentions(line)
            ),
        )


def _page(content: Content) -> ShownPage:
    check_content(content)
    labels = tuple(button.label for button in content.buttons)
    alive = frozenset(person for line in content.lines for person in mentions(line))
    return ShownPage(" ".join((_read(content), *labels)), labels, alive)


def _read(content: Content) -> str:
    lines = (line.removeprefix(BAR).replace("@@", "@") for line in content.lines)
    return " ".join(" ".join(lines).split())


class TestTextContract(ChannelContract):
    @pytest.fixture
    async def world(self) -> TextWorld:
        network = office()
        channel = TextChannel(network, "r-orders")
        await channel.start()
        return TextWorld(network, channel)
