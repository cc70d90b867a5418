"""What stands in a person's Home, and in the answer to `/approvals`. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bot.card import Card, open_of
from bot.channels.slack import blocks, lines
from bot.channels.slack.asking import doubt_blocks
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.lines import DOT, date
from bot.channels.slack.mentions import linked
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
    plain,
    rich_text,
    shortened,
    words,
)
from bot.home import Home, Line, Task

#: A view holds 100 blocks of 250 kB in all. What the other parts need is kept free.
MAX_BLOCKS = 100 - 16
MAX_BYTES = 150_000
#: A review of which there is no room for more: its line, its headline, and how to go on.
SHORT = 4
#: Of one review; and what the arguments of one action may take, in characters.
MAX_ACTIONS = 3
ROOM = 1500

NOTHING = "Nothing waits for you"
UNKNOWN = "Slack doesn't say at the moment whether you may decide"


def view_blocks(home: Home, channel: SlackChannel) -> list[Block]:
    """At most 100, each with an id of its own."""
    drawn: list[Block] = [header("title", total(home))]
    if not home.mine and not home.others and not home.decided:
        told = "When an agent asks for something that you may decide, it stands here."
        return [*drawn, context("empty", mrkdwn(told))]
    for number, task in enumerate(home.mine, start=1):
        room = MAX_BLOCKS - len(drawn) - SHORT * (len(home.mine) - number)
        full = _task(task, channel)
        fits = len(full) <= room and _bytes([*drawn, *full]) < MAX_BYTES
        drawn += full if fits else _short(task, channel)
    drawn += _lines("others", "Waiting for others", home.others, channel)
    drawn += _lines("decided", "Decided by you", home.decided, channel)
    return [*drawn, *(_turn(home) if home.pages > 1 else [])]


def failed_blocks(why: str) -> list[Block]:
    """In place of all this, where it could not be looked up."""
    return [header("title", "What waits for you is not known"), rich_text("why", line(words(why)))]


def list_blocks(home: Home, channel: SlackChannel) -> list[Block]:
    """The same without buttons, for an ephemeral message."""
    drawn: list[Block] = [header("title", total(home))]
    for task in home.mine:
        review_id = task.card.review_id
        drawn += _headline(task, channel, _told(task.card))
        if task.ref is None:  # no card to open yet
            drawn.append(context(f"show:{review_id}", mrkdwn(f"`/approvals show {review_id}`")))
    if (more := home.total - len(home.mine)) > 0:
        most = "More than " if home.more else ""
        drawn.append(context("more", mrkdwn(f"{most}{more} more in the app's Home.")))
    drawn += _lines("others", "Waiting for others", home.others, channel)
    drawn += _lines("decided", "Decided by you", home.decided, channel)
    return drawn


def total(home: Home) -> str:
    if not home.total:
        return NOTHING
    if home.more:
        return f"More than {home.total:,} reviews wait for you"
    return "1 review waits for you" if home.total == 1 else f"{home.total} reviews wait for you"


def _task(task: Task, channel: SlackChannel) -> list[Block]:
    review_id = task.card.review_id
    drawn = [divider(f"line:{review_id}"), *_headline(task, channel)]
    for key in task.keys[:MAX_ACTIONS]:
        # Whoever must have read all of it sees as much as Slack lets through.
        action = task.review.action(key)
        must_read = action is not None and action.config.must_read
        opened = open_of(task.review, key, **({} if must_read else {"room": ROOM}))
        alone = blocks.is_alone(task.card)
        one = blocks.action_blocks(review_id, opened, channel.name_of, numbered=not alone)
        # Several reviews stand here, and each has an action of this key.
        drawn += _of(review_id, one)
    for doubt in [one for one in task.card.doubts if one.key in task.doubts][:MAX_ACTIONS]:
        drawn += _of(review_id, doubt_blocks(review_id, doubt))
    if (more := max(len(task.keys), len(task.doubts)) - MAX_ACTIONS) > 0:
        told = f"{more} more of it {'waits' if more == 1 else 'wait'} where its card stands."
        drawn.append(context(f"more:{review_id}", mrkdwn(told)))
    return drawn


def _short(task: Task, channel: SlackChannel) -> list[Block]:
    """Where there is no room for all of it."""
    review_id = task.card.review_id
    where = "Open its card to read and decide." if task.ref else f"`/approvals show {review_id}`"
    told = context(f"short:{review_id}", mrkdwn(where))
    headline = _headline(task, channel, _told(task.card))[: SHORT - 2]
    return [divider(f"line:{review_id}"), *headline, told]


def _headline(task: Task, channel: SlackChannel, title: str = "") -> list[Block]:
    """Who asks for what, and below for whom, and what happens by when."""
    card = task.card
    elements: list[Element] = [words(shortened(title or card.title, 200), bold=True)]
    if task.ref is not None:
        link: Element = {"type": "link", "url": channel.link(task.ref), "text": "open its card"}
        elements += [words("   "), link]
    below = lines.origin(card, channel.name_of, channel.link)
    below += lines.unshown(card, channel.name_of)
    return [
        rich_text(f"head:{card.review_id}", line(*elements)),
        *_of(card.review_id, below),
    ]


def _lines(key: str, title: str, items: Sequence[Line], channel: SlackChannel) -> list[Block]:
    if not items:
        return []
    drawn = [divider(f"line:{key}"), rich_text(f"title:{key}", line(words(title, bold=True)))]
    for number, item in enumerate(items):
        way = linked("open its card", item.ref, channel.link)
        unknown = UNKNOWN if item.unknown else None
        when = DOT.join(filter(None, (date(item.at), way, unknown)))
        drawn.append(
            context(
                f"{key}:{number}",
                plain(_told(item.card) if item.may_see else item.card.title, 300),
                mrkdwn(f"·  {when}"),
            )
        )
    return drawn


def _told(card: Card) -> str:
    """What became of it, or what it is about."""
    if len(card.waiting) == 1:
        [one] = card.waiting
        return f"{card.title} ({one.fact})" if one.fact else card.title
    tools = [one.name for one in card.waiting]
    more = [f"and {len(tools) - MAX_ACTIONS} more"] if len(tools) > MAX_ACTIONS else []
    return ": ".join(filter(None, (card.title, ", ".join([*tools[:MAX_ACTIONS], *more]))))


def _turn(home: Home) -> list[Block]:
    ways = [
        ("home_page:back", "◀ Back", home.page - 1),
        ("home_page:on", "Next ▶", home.page + 1),
    ]
    buttons = [
        button(action_id, told, str(to), f"Page {to + 1} of {home.pages}")
        for action_id, told, to in ways
        if 0 <= to < home.pages
    ]
    at = context("page", mrkdwn(f"Page {home.page + 1} of {home.pages}"))
    return [divider("line:page"), actions("turn", buttons), at]


def _of(review_id: str, several: Sequence[Block]) -> list[Block]:
    return [{**one, "block_id": f"{review_id}:{one['block_id']}"} for one in several]


def _bytes(drawn: Sequence[Block]) -> int:
    return len(json.dumps(drawn).encode())
