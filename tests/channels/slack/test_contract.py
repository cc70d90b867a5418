"""The contract, kept by Slack: the real channel and its real client, against the local Slack."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.card import build_card, thread_lines
from bot.channels.contract import MessageGone
from bot.channels.slack import SlackChannel
from bot.channels.slack.modals import form_view
from bot.channels.slack.modals.modal import MODAL_LIMITS
from bot.channels.slack.render import view_blocks
from bot.forms import FormPage
from bot.health import Health
from bot.inbox import Home
from hitl_core.model import MessageRef, Place
from slack_sandbox.client import read_text
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from slack_sandbox.server import running_sandbox
from slack_sandbox.workspace import mentions
from slack_sandbox.workspace.message import escape_text
from slack_sandbox.workspace.objects import Channel, Message
from tests.channels.contract import ChannelContract, Shown, ShownPage, World
from tests.channels.contract.world import Fault
from tests.channels.reading import check_view, texts
from tests.channels.scenes import DEFAULT, THREE, decide, review_of

#: An error that Slack doesn't document, and a yes without what was asked for.
REFUSED, UNREADABLE = {"ok": False, "error": "some_new_error"}, {"ok": True}
_LINK = re.compile(r"<(?:https?|mailto|tel):[^<>]*>")
#: What mrkdwn makes of a text: a format, or an emoji.
_FORMAT = re.compile(r"(?<!\w)([*_~`])(?=\S)[^\n]*?(?<=\S)\1(?!\w)|:[\w+-]+:")


class SlackWorld(World):
    room, alias, other = (
        Place("slack:C0APPROVE"),
        Place("slack:#agent-approvals"),
        Place("slack:C0OPS"),
    )
    direct, group = Place("slack:U0ALICE"), Place("slack:S0OPS")
    member, outsider, group_id = "U0ALICE", "U0CARL", "S0OPS"
    people = {  # noqa: RUF012
        "member": "U0ALICE",
        "guest": "U0GINA",
        "external": "U0SAM",
        "bot": "U0AGENT",
        "left": "U0GONE",
    }
    unusable = {  # noqa: RUF012
        "archived": Place("slack:C0OLD"),
        "not in this channel": Place("slack:C0EMPTY"),
        "can't see this channel": Place("slack:C0NONE"),
        "no channel #none": Place("slack:#none"),
        "neither a channel's id nor a name": Place("slack:none"),
        "there is no such person": Place("slack:U0NOBODY"),
        "has left": Place("slack:U0GONE"),
        "this is a bot": Place("slack:U0AGENT"),
        "nobody is in this group|is a group": Place("slack:S0OLD"),
        "there is no such group|is a group": Place("slack:S0NONE"),
    }
    nasty = ("<!everyone>", "<@U0CARL|Carl>", "<mailto:a@b.example>", "www.evil.example", "&amp;")

    modal_limits = MODAL_LIMITS

    def __init__(self, sandbox: Sandbox, channel: SlackChannel) -> None:
        self.sandbox, self.channel, self._slack = sandbox, channel, channel

    @property
    def now(self) -> float:
        return self.sandbox.workspace.now()

    def fail(self, fault: Fault, times: int | None = None) -> None:
        modes: dict[Fault, dict[str, Any]] = {
            "limited": {"mode": "ratelimited"},
            "down": {"mode": "http_500"},
            "lost": {"mode": "ok_but_reset"},
            "refused": {"mode": "answer", "body": json.dumps(REFUSED)},
            "unreadable": {"mode": "answer", "body": json.dumps(UNREADABLE)},
        }
        self.sandbox.faults.configure({**modes[fault], "times": times})

    def recover(self) -> None:
        self.sandbox.faults.configure({"mode": "ok"})

    async def messages(self, place: Place) -> list[Shown]:
        conversation = await self.channel.conversation_id(place)
        channel = self.sandbox.workspace.channels[conversation]
        return [
            self._shown(channel, message)
            for message in channel.messages.values()
            if message.thread_ts in (None, message.ts) and not message.deleted
        ]

    async def remove(self, ref: MessageRef) -> None:
        channel = self.sandbox.workspace.channels[ref.conversation]
        self.sandbox.workspace.remove(channel.messages[ref.ts])

    async def forge(self, ref: MessageRef) -> None:
        workspace = self.sandbox.workspace
        ours = workspace.channels[ref.conversation].messages[ref.ts]
        workspace.add(
            Message(
                ours.channel, workspace.next_ts(), "U0AGENT", ours.text, ours.blocks,
                bot_id="B0AGENT", metadata=ours.metadata,
            )
        )  # fmt: skip

    def rename(self, id: str, name: str) -> None:
        if group := self.sandbox.workspace.groups.get(id):
            group.name = group.handle = name
        else:
            self.sandbox.users.rename(id, name)

    def show_form(self, page: FormPage) -> ShownPage:
        return _page(form_view(page))

    def show_home(self, home: Home) -> ShownPage:
        return _page({"type": "home", "blocks": view_blocks(home, self._slack)})

    def named(self, id: str) -> str:
        return id

    def _shown(self, channel: Channel, message: Message) -> Shown:
        replies = channel.replies(message.ts)
        return Shown(
            MessageRef(channel="slack", conversation=channel.id, ts=message.ts),
            _text_of(message),
            tuple(_buttons(message.blocks)),
            tuple(one["value"] for one in _pressable(message.blocks)),
            tuple(map(_text_of, replies)),
            frozenset(part for one in (message, *replies) for part in _alive(one)),
        )


def _page(view: dict[str, Any]) -> ShownPage:
    blocks = check_view(view)["blocks"]
    text = " ".join(text for _, text in texts(view))
    called = mentions.find_mentions("", blocks)
    links = [link for one in _mrkdwn(blocks) for link in _LINK.findall(one)]
    alive = [*called.users, *called.groups, *links, *(["all"] if called.everybody else [])]
    return ShownPage(" ".join(text.split()), tuple(_buttons(blocks)), frozenset(alive))


def _text_of(message: Message) -> str:
    text = read_text(message.blocks) or message.text
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, char) if not message.blocks else text
    return " ".join(text.split())


def _buttons(blocks: list[Any]) -> Iterator[str]:
    return (one["text"]["text"] for one in _pressable(blocks))


def _pressable(blocks: list[Any]) -> Iterator[dict[str, Any]]:
    """The buttons, and the options of menus."""
    for block in blocks:
        for element in block["elements"] if block["type"] == "actions" else ():
            yield from element.get("options", [element])


def _alive(message: Message) -> Iterator[str]:
    """Mentions and links of its blocks, and of its `text`: as it is stored, or as mrkdwn if it has no
    blocks."""
    called = mentions.find_mentions(message.text, message.blocks)
    yield from (*called.users, *called.groups, *(["everybody"] if called.everybody else []))
    text = message.text if message.blocks else escape_text(message.text)
    for one in (text, *_mrkdwn(message.blocks)):
        yield from _LINK.findall(one)
    for one in () if message.blocks else (message.text,):
        yield from (found[0] for found in _FORMAT.finditer(one))


def _mrkdwn(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _mrkdwn(one)
    elif isinstance(value, dict):
        part = cast("dict[str, Any]", value)
        if part.get("type") == "mrkdwn":
            yield part["text"]
        elif part.get("type") in ("link", "emoji"):
            yield str(part)
        else:
            yield from _mrkdwn(list(part.values()))


class TestSlackContract(ChannelContract):
    @pytest.fixture
    async def world(self) -> AsyncIterator[SlackWorld]:
        async with running_sandbox(rate_limits=False) as sandbox:
            client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
            channel = SlackChannel(client, "#agent-approvals", Health())
            await channel.start()
            yield SlackWorld(sandbox, channel)

    async def test_the_lines_of_a_card_whose_thread_was_deleted_are_below_the_card(
        self, world: World
    ):
        """Given a thread that was deleted before its card was posted, so that Slack has put the card into the
        channel; then its lines are below it, and not in the channel."""
        place = Place("slack:C0APPROVE/1700000000.000100")
        review = decide(review_of(*THREE), "1", "reject", message="Not on a Friday.")
        lines = thread_lines(review, DEFAULT)
        ref = await world.channel.post(place, build_card(review, DEFAULT))
        for line in lines:
            await world.channel.reply(place, ref, line)
        (shown,) = await world.messages(world.room)
        assert shown.ref == ref
        assert len(shown.thread) == len(lines) > 0

    async def test_a_file_is_never_in_the_channel_itself(self, world: World):
        """Given a card whose thread was deleted before its post; then its file is below the card. If the card
        is deleted too, there is no file: Slack would put it into the channel."""
        place = Place("slack:C0APPROVE/1700000000.000100")
        ref = await world.channel.post(place, build_card(review_of(*THREE), DEFAULT))
        channel = cast(SlackChannel, world.channel)
        await channel.upload(place, ref, "all.txt", "all of it")
        messages = cast(SlackWorld, world).sandbox.workspace.channels["C0APPROVE"].messages
        (file,) = [one for one in messages.values() if one.files]
        assert file.thread_ts == ref.ts

        cast(SlackWorld, world).sandbox.workspace.remove(file)
        await channel.delete(place, ref)
        with pytest.raises(MessageGone):
            await channel.upload(place, ref, "all.txt", "all of it")
        assert not any(one.files and not one.deleted for one in messages.values())
