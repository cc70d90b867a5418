"""App Home and `/approvals`: what waits for a person, with its buttons."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from typing import Any

from slack_bolt.async_app import AsyncAck

from bot.card import open_of
from bot.channel import ChannelError
from bot.channels.slack import blocks
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.lines import date
from bot.channels.slack.rich import (
    Block,
    Element,
    actions,
    button,
    context,
    divider,
    header,
    line,
    mrkdwn,
    rich_text,
    words,
)
from bot.home import Home, Homes, Line, Task
from bot.inbox import AWAY, Inbox
from hitl_core.errors import HitlError, Refused
from hitl_core.model import MessageRef
from hitl_core.store import Store

log = logging.getLogger(__name__)

Body = dict[str, Any]

#: A view holds 100 blocks; a message 50.
MAX_BLOCKS = 90
#: Of one review: who wants more of it opens its card.
MAX_ACTIONS = 3
USAGE = "Try `/approvals` for what waits for you, or `/approvals show ID` for one review."


class HomeTab:
    def __init__(self, homes: Homes, inbox: Inbox, channel: SlackChannel, store: Store) -> None:
        self._homes, self._inbox, self._channel, self._store = homes, inbox, channel, store
        self._drawn: dict[str, str] = {}

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators carry no types."""
        app.event("app_home_opened")(self.opened)
        app.action(re.compile("home_page:.*"))(self.turn)
        app.command("/approvals")(self.command)

    async def opened(self, event: Body) -> None:
        if event.get("tab") != "home":
            return
        user_id = str(event["user"])
        try:
            await self._store.opened_home(user_id, await self._store.now())
            await self.publish(user_id)
        except (HitlError, ChannelError) as error:
            log.warning("the Home of %s could not be drawn: %s", user_id, error)

    async def turn(self, ack: AsyncAck, body: Body) -> None:
        user_id, page = str(body["user"]["id"]), int(body["actions"][0]["value"])
        try:
            await self.publish(user_id, page)
        except (HitlError, ChannelError) as error:
            log.warning("the Home of %s could not be drawn: %s", user_id, error)
        await ack()

    async def publish(self, user_id: str, page: int = 0) -> None:
        """Raises ChannelError, StoreUnavailable. What this bot drew last is not drawn again."""
        home = await self._homes.of(await self._reviewer(user_id), page)
        view = {"type": "home", "blocks": view_blocks(home, self._channel)}
        digest = hashlib.sha256(json.dumps(view).encode()).hexdigest()
        if self._drawn.get(user_id) != digest:
            await self._channel.publish_home(user_id, view)
            self._drawn[user_id] = digest

    async def command(self, ack: AsyncAck, body: Body) -> None:
        """`/approvals` and `/approvals show ID`: seen by who typed it, and by nobody else."""
        verb, _, rest = str(body.get("text") or "").strip().partition(" ")
        who = await self._reviewer(str(body["user_id"]), str(body["team_id"]))
        try:
            if not verb:
                home = await self._homes.of(who)
                drawn = list_blocks(home, self._channel)
                await ack(text=_total(home), blocks=drawn, response_type="ephemeral")
            elif verb == "show" and rest.strip():
                shown = await self._inbox.shown(rest.strip(), who)
                message = blocks.message(shown, self._channel.name_of, self._channel.link)
                # To pass it on belongs to its own card, which says from where.
                kept = [one for one in message["blocks"] if one["block_id"] != "escalate"]
                await ack(text=message["text"], blocks=kept, response_type="ephemeral")
            else:
                await ack(text=USAGE, response_type="ephemeral")
        except Refused as refused:
            await ack(text=str(refused), response_type="ephemeral")
        except (HitlError, ChannelError) as error:
            log.warning("/approvals could not be answered: %s", error)
            await ack(text=AWAY, response_type="ephemeral")

    async def _reviewer(self, user_id: str, team: str = "") -> Any:
        return await self._inbox.who(user_id, team or self._channel.team, user_id)


def view_blocks(home: Home, channel: SlackChannel) -> list[Block]:
    drawn: list[Block] = [header("title", _total(home))]
    for task in home.mine:
        wanted = _task(task, channel)
        if len(drawn) + len(wanted) > MAX_BLOCKS - 20:
            break
        drawn += wanted
    if home.pages > 1:
        drawn.append(_turn(home))
    drawn += _lines("others", "Waiting for others", home.others, channel)
    drawn += _lines("decided", "Decided by you", home.decided, channel)
    return drawn


def list_blocks(home: Home, channel: SlackChannel) -> list[Block]:
    """The same without buttons, for an ephemeral message."""
    drawn: list[Block] = [header("title", _total(home))]
    for task in home.mine:
        drawn.append(_headline(task.card.review_id, task.card.title, task.ref, channel))
        drawn.append(context(f"show:{task.card.review_id}", _show(task.card.review_id)))
    drawn += _lines("others", "Waiting for others", home.others, channel)
    drawn += _lines("decided", "Decided by you", home.decided, channel)
    return drawn


def _total(home: Home) -> str:
    if not home.total or not (home.mine or home.page):
        return "Nothing waits for you"
    return "1 review waits for you" if home.total == 1 else f"{home.total} reviews wait for you"


def _task(task: Task, channel: SlackChannel) -> list[Block]:
    review_id = task.card.review_id
    drawn = [
        divider(f"line:{review_id}"),
        _headline(review_id, task.card.title, task.ref, channel),
    ]
    for key in task.keys[:MAX_ACTIONS]:
        one = blocks.action_blocks(review_id, open_of(task.review, key), channel.name_of)
        # Several reviews stand here, and each has an action of this key.
        drawn += [{**block, "block_id": f"{review_id}:{block['block_id']}"} for block in one]
    if (more := len(task.keys) - MAX_ACTIONS) > 0:
        told = f"{more} more of it {'waits' if more == 1 else 'wait'} where its card stands."
        drawn.append(context(f"more:{review_id}", mrkdwn(told)))
    return drawn


def _headline(review_id: str, title: str, ref: MessageRef | None, channel: SlackChannel) -> Block:
    elements = [words(title, bold=True)]
    return rich_text(f"head:{review_id}", line(*elements, *_open(ref, channel)))


def _open(ref: MessageRef | None, channel: SlackChannel) -> list[Element]:
    if ref is None:
        return []
    return [words("  "), {"type": "link", "url": channel.link(ref), "text": "open its card"}]


def _lines(key: str, title: str, items: tuple[Line, ...], channel: SlackChannel) -> list[Block]:
    if not items:
        return []
    drawn = [divider(f"line:{key}"), rich_text(f"title:{key}", line(words(title, bold=True)))]
    for number, item in enumerate(items):
        drawn.append(_headline(f"{key}:{number}", item.card.summary, item.ref, channel))
        drawn.append(context(f"at:{key}:{number}", mrkdwn(date(item.at))))
    return drawn


def _show(review_id: str) -> Element:
    return mrkdwn(f"`/approvals show {review_id}`")


def _turn(home: Home) -> Block:
    ways = [
        ("home_page:back", "◀ Earlier", home.page - 1),
        ("home_page:on", "Later ▶", home.page + 1),
    ]
    buttons = [
        button(action_id, told, str(to), f"Page {to + 1} of {home.pages}")
        for action_id, told, to in ways
        if 0 <= to < home.pages
    ]
    return actions("turn", buttons)
