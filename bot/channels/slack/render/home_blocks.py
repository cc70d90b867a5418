"""The blocks of a person's App Home and of the answer to `/approvals`. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from hitl_core.model import MessageRef, Place

from ....card import Card, find_open_action
from ....inbox import Home, HomeLine, HomeTask
from . import card_lines, card_message
from .action_blocks import doubt_blocks
from .block_kit import (
    Block,
    Element,
    actions,
    button,
    context,
    divider,
    header,
    line,
    mrkdwn,
    plain_text,
    rich_text,
    shorten,
    text_element,
)
from .card_lines import SEPARATOR, format_date
from .mentions import link_text

#: A view has at most 100 blocks and 250 kB. The rest is reserved for the other parts.
MAX_BLOCKS = 100 - 16
MAX_BYTES = 150_000
#: The blocks of a review in its short form: divider, headline, hint.
SHORT_BLOCKS = 4
#: Actions of one review, and characters of the arguments of one action.
MAX_ACTIONS = 3
MAX_ARGUMENT_CHARS = 1500

NOTHING_WAITS = "Nothing waits for you"
LOOKUP_UNKNOWN = "Slack can't confirm at the moment that you may decide"


class PlaceNames(Protocol):
    """The channel's methods that Home uses."""

    def name_of(self, place: Place) -> str:
        """The name of a place for people, for example `#team-ops`."""
        ...

    def link(self, ref: MessageRef) -> str:
        """The URL of a message."""
        ...


def view_blocks(home: Home, channel: PlaceNames) -> list[Block]:
    """At most 100 blocks, with unique ids."""
    content: list[Block] = [header("title", summary(home))]
    if not home.mine and not home.others and not home.decided:
        text = "When an agent asks for something that you may decide, it appears here."
        return [*content, context("empty", mrkdwn(text))]
    for number, task in enumerate(home.mine, start=1):
        room = MAX_BLOCKS - len(content) - SHORT_BLOCKS * (len(home.mine) - number)
        full = _task_blocks(task, channel)
        fits = len(full) <= room and _byte_size([*content, *full]) < MAX_BYTES
        content += full if fits else _short_task_blocks(task, channel)
    content += _section_blocks("others", "Waiting for others", home.others, channel)
    content += _section_blocks("decided", "Decided by you", home.decided, channel)
    return [*content, *(_navigation(home) if home.pages > 1 else [])]


def error_blocks(why: str) -> list[Block]:
    """Replaces the Home when it could not be loaded."""
    return [
        header("title", "Your reviews could not be loaded"),
        rich_text("why", line(text_element(why))),
    ]


def list_blocks(home: Home, channel: PlaceNames) -> list[Block]:
    """The same without buttons, for an ephemeral message."""
    content: list[Block] = [header("title", summary(home))]
    for task in home.mine:
        review_id = task.card.review_id
        content += _headline_blocks(task, channel, _card_summary(task.card))
        if task.ref is None:  # no card to open yet
            content.append(context(f"show:{review_id}", mrkdwn(f"`/approvals show {review_id}`")))
    if (more := home.total - len(home.mine)) > 0:
        most = "More than " if home.more else ""
        content.append(context("more", mrkdwn(f"{most}{more} more in the app's Home.")))
    content += _section_blocks("others", "Waiting for others", home.others, channel)
    content += _section_blocks("decided", "Decided by you", home.decided, channel)
    return content


def summary(home: Home) -> str:
    if not home.total:
        return NOTHING_WAITS
    if home.more:
        return f"More than {home.total:,} reviews wait for you"
    return "1 review waits for you" if home.total == 1 else f"{home.total} reviews wait for you"


def _task_blocks(task: HomeTask, channel: PlaceNames) -> list[Block]:
    review_id = task.card.review_id
    content = [divider(f"line:{review_id}"), *_headline_blocks(task, channel)]
    for key in task.keys[:MAX_ACTIONS]:
        # For `must_read` the action is shown as completely as Slack allows.
        action = task.review.action(key)
        must_read = action is not None and action.config.must_read
        open_action = find_open_action(
            task.review, key, **({} if must_read else {"room": MAX_ARGUMENT_CHARS})
        )
        is_single = card_message.is_single(task.card)
        one = card_message.action_blocks(
            review_id, open_action, channel.name_of, numbered=not is_single
        )
        # Action keys are unique only in one review, and this view has several.
        content += _prefix_ids(review_id, one)
    for doubt in [one for one in task.card.doubts if one.key in task.doubts][:MAX_ACTIONS]:
        content += _prefix_ids(review_id, doubt_blocks(review_id, doubt))
    if (more := max(len(task.keys), len(task.doubts)) - MAX_ACTIONS) > 0:
        text = f"{more} more {'waits' if more == 1 else 'wait'} on the card of this review."
        content.append(context(f"more:{review_id}", mrkdwn(text)))
    return content


def _short_task_blocks(task: HomeTask, channel: PlaceNames) -> list[Block]:
    """The short form, if the full one does not fit."""
    review_id = task.card.review_id
    where = "Open its card to read and decide." if task.ref else f"`/approvals show {review_id}`"
    hint = context(f"short:{review_id}", mrkdwn(where))
    headline = _headline_blocks(task, channel, _card_summary(task.card))[: SHORT_BLOCKS - 2]
    return [divider(f"line:{review_id}"), *headline, hint]


def _headline_blocks(task: HomeTask, channel: PlaceNames, title: str = "") -> list[Block]:
    """Who asks for what; below it for whom, and the next deadlines."""
    card = task.card
    elements: list[Element] = [text_element(shorten(title or card.title, 200), bold=True)]
    if task.ref is not None:
        link: Element = {"type": "link", "url": channel.link(task.ref), "text": "open its card"}
        elements += [text_element("   "), link]
    below = card_lines.origin(card, channel.name_of, channel.link)
    below += card_lines.delivery_problems(card, channel.name_of)
    return [
        rich_text(f"head:{card.review_id}", line(*elements)),
        *_prefix_ids(card.review_id, below),
    ]


def _section_blocks(
    key: str, title: str, items: Sequence[HomeLine], channel: PlaceNames
) -> list[Block]:
    if not items:
        return []
    content = [
        divider(f"line:{key}"),
        rich_text(f"title:{key}", line(text_element(title, bold=True))),
    ]
    for number, item in enumerate(items):
        card_link = link_text("open its card", item.ref, channel.link)
        unknown = LOOKUP_UNKNOWN if item.unknown else None
        when = SEPARATOR.join(filter(None, (format_date(item.at), card_link, unknown)))
        content.append(
            context(
                f"{key}:{number}",
                plain_text(_card_summary(item.card) if item.can_see else item.card.title, 300),
                mrkdwn(f"·  {when}"),
            )
        )
    return content


def _card_summary(card: Card) -> str:
    """The card's title, with its main fact or its tools."""
    if len(card.waiting) == 1:
        [one] = card.waiting
        return f"{card.title} ({one.fact})" if one.fact else card.title
    tools = [one.name for one in card.waiting]
    more = [f"and {len(tools) - MAX_ACTIONS} more"] if len(tools) > MAX_ACTIONS else []
    return ": ".join(filter(None, (card.title, ", ".join([*tools[:MAX_ACTIONS], *more]))))


def _navigation(home: Home) -> list[Block]:
    directions = [
        ("home_page:back", "◀ Back", home.page - 1),
        ("home_page:on", "Next ▶", home.page + 1),
    ]
    buttons = [
        button(action_id, label, str(to), f"Page {to + 1} of {home.pages}")
        for action_id, label, to in directions
        if 0 <= to < home.pages
    ]
    at = context("page", mrkdwn(f"Page {home.page + 1} of {home.pages}"))
    return [divider("line:page"), actions("turn", buttons), at]


def _prefix_ids(review_id: str, several: Sequence[Block]) -> list[Block]:
    return [{**one, "block_id": f"{review_id}:{one['block_id']}"} for one in several]


def _byte_size(content: Sequence[Block]) -> int:
    return len(json.dumps(content).encode())
