"""The contract, kept by Teams: the real channel and its real client, against the local Teams.

What Teams can't do, and how the world says so:
- nobody is a bot or a stranger: Graph has only the people of our tenant;
- a chat has no threads, so replies are read in a channel (`room` is one);
- that a channel is archived, no look-up says, only a post: it is tested below, and not among `unusable`.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from bot.channels.teams.channel import TeamsChannel
from bot.channels.teams.render import TEAMS_LIMITS, CardBuilder, form_card, home_card
from bot.forms import FormPage
from bot.inbox import Home
from hitl_core.model import MessageRef, Place
from hitl_core.store import MemoryStore
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import running_sandbox
from teams_sandbox.validation import check_card, elements_in
from teams_sandbox.workspace import Conversation, Message, ids
from tests.channels.contract import ChannelContract, Shown, ShownPage, World
from tests.channels.contract.world import Fault
from tests.support.teams.local import install_everywhere, make_channel

Json = dict[str, Any]

#: An error that Teams does not document.
REFUSED = json.dumps({"error": {"code": "SomeNewError", "message": "?"}})
NOBODY = "00000000-0000-4000-8000-0000000000ff"


class TeamsWorld(World):
    room, alias = Place(f"teams:{ids.APPROVALS}"), Place("teams:Agent approvals")
    other = Place(f"teams:{ids.OPS}")
    direct, group = Place(f"teams:{ids.ALICE}"), Place(f"teams:group:{ids.OPS_GROUP}")
    member, outsider, group_id = ids.ALICE, ids.CARL, f"group:{ids.OPS_GROUP}"
    people = {"member": ids.ALICE, "guest": ids.GUEST, "left": ids.GONE}  # noqa: RUF012
    unusable = {  # noqa: RUF012
        "Teams has no such conversation": Place("teams:19:nowhere@thread.tacv2"),
        "the app is not installed there": Place(f"teams:{ids.NO_BOT}"),
        "there is no team or channel none": Place("teams:none"),
        "are both called General": Place("teams:General"),
        "there is no such person": Place(f"teams:{NOBODY}"),
        "has left|there is no such person": Place(f"teams:{ids.GONE}"),
        "has not installed the app": Place(f"teams:{ids.NOAPP}"),
        "nobody is in this group|is a group": Place(f"teams:group:{ids.EMPTY_GROUP}"),
        "there is no such group|is a group": Place(f"teams:group:{NOBODY}"),
    }
    nasty = (
        "<at>Carl Weiss</at>",
        "{{DATE(2026-01-01T00:00:00Z, SHORT)}}",
        "[pay](https://evil.example)",
        "![](https://evil.example/x.png)",
        "<b>bold</b>",
        "&lt;at&gt;Carl&lt;/at&gt;",
        "${name}",
    )

    modal_limits = TEAMS_LIMITS

    def __init__(self, sandbox: Sandbox, channel: TeamsChannel) -> None:
        self.sandbox, self.channel, self._teams = sandbox, channel, channel

    @property
    def now(self) -> float:
        return self.sandbox.workspace.now()

    def fail(self, fault: Fault, times: int | None = None) -> None:
        faults = self.sandbox.faults
        if fault == "refused":
            faults.add("answer", times=times, status=400, body=REFUSED)
        else:
            faults.add(fault, times=times)

    def recover(self) -> None:
        self.sandbox.faults.clear()

    async def messages(self, place: Place) -> list[Shown]:
        conversation = self._conversation(await self.channel.conversation_id(place))
        return [
            self._shown(conversation, message)
            for message in conversation.messages.values()
            if message.root in (None, message.id) and not message.deleted
        ]

    async def remove(self, ref: MessageRef) -> None:
        self._conversation(ref.conversation).messages[ref.ts].deleted = True

    async def forge(self, ref: MessageRef) -> None:
        conversation = self._conversation(ref.conversation)
        ours = conversation.messages[ref.ts]
        copy = self.sandbox.workspace.add_message(conversation, f"28:{NOBODY}")
        copy.attachments, copy.summary = ours.attachments, ours.summary

    def rename(self, id: str, name: str) -> None:
        workspace = self.sandbox.workspace
        if group := workspace.groups.get(id.removeprefix("group:")):
            group.name = name
        else:
            workspace.users[id].display_name = name

    def show_form(self, page: FormPage) -> ShownPage:
        return _page(form_card(page, "s1", self._builder))

    def show_home(self, home: Home) -> ShownPage:
        return _page(home_card(home, self._builder))

    @property
    def _builder(self) -> CardBuilder:
        return CardBuilder.of(self.channel.name_of, self._teams.key_in(""), self._teams.link)

    def spelling(self, text: str) -> str:
        return _plain(text)

    def _conversation(self, id: str) -> Conversation:
        found = self.sandbox.workspace.find_conversation(id)
        assert found is not None
        return found

    def _shown(self, conversation: Conversation, message: Message) -> Shown:
        card = message.card
        assert card is not None
        replies = [one.card or {} for one in conversation.replies(message.id)]
        actions = [*_actions(card)]
        return Shown(
            self._teams._ref(conversation.id, message.id),
            _text(card),
            tuple(one["title"] for one in actions),
            tuple(one["data"]["value"] for one in actions if "data" in one),
            tuple(map(_text, replies)),
            frozenset(part for one in (card, *replies) for part in _alive(one)),
        )


def _page(card: Json) -> ShownPage:
    labels = tuple(one["title"] for one in _actions(card))
    return ShownPage(_plain(" ".join((_text(card), *labels))), labels, frozenset(_alive(card)))


def _plain(text: str) -> str:
    return " ".join(text.replace("\u200b", "").split())


def _text(card: Json) -> str:
    check_card(card)
    words = [*_words(card["body"])]
    return _plain(" ".join(words))


def _words(value: Any) -> Iterator[str]:
    """What people read, each block as a whole; not the labels of buttons."""
    match value:
        case list():
            for one in value:
                yield from _words(one)
        case {"type": "RichTextBlock", "inlines": list(runs)}:
            yield "".join(run["text"] for run in runs)
        case {"type": "TextBlock", "text": str(text)}:
            yield text
        case {"type": "ActionSet"}:
            return
        case dict():
            for key in ("label", "title", "placeholder", "value"):
                if isinstance(value.get(key), str):
                    yield value[key]
            yield from (one["title"] for one in value.get("choices", ()))
            for key, part in value.items():
                if key in ("body", "items", "columns", "rows", "cells"):
                    yield from _words(part)
        case _:
            return


def _actions(card: Json) -> Iterator[Json]:
    """The buttons, without those in the questions that they open."""
    for _, element in elements_in(card["body"]):
        if element.get("type") == "ActionSet":
            yield from element["actions"]


def _alive(card: Json) -> Iterator[str]:
    """Mentions, links, and what Markdown makes of a text."""
    yield from (one["mentioned"]["id"] for one in (card.get("msteams") or {}).get("entities", ()))
    for _, element in elements_in(card):
        if element.get("type") in ("Action.OpenUrl", "Image", "Media"):
            yield str(element.get("url"))
        if action := element.get("selectAction"):
            yield str(action.get("url"))
        for run in element.get("inlines", ()) if element.get("type") == "RichTextBlock" else ():
            if action := run.get("selectAction"):
                yield str(action.get("url"))
            if re.search(r"\{\{(?!DATE\(|TIME\()", run["text"]):
                yield run["text"]


class TestTeamsContract(ChannelContract):
    @pytest.fixture
    async def world(self) -> AsyncIterator[TeamsWorld]:
        async with running_sandbox() as sandbox:
            channel = make_channel(sandbox, MemoryStore(), "Agent approvals")
            await install_everywhere(sandbox, channel)
            await channel.start()
            await channel.person(
                ids.ALICE
            )  # the tokens are there: a call is one request from now on
            yield TeamsWorld(sandbox, channel)
            await channel.close()
