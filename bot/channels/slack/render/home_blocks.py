"""The blocks of a person's App Home and of the answer to `/approvals`. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from hitl_core.model import MessageRef, Place

from ....card import (
    DECIDED_TITLE,
    ERROR_TITLE,
    MAX_CALL,
    NOTHING_YET,
    OPEN_CARD_HINT,
    OTHERS_TITLE,
    HomeText,
    PlaceNames,
    Verbatim,
    card_summary,
    card_text,
    command_line,
    decided_text,
    fact_lines,
    find_open_action,
    home_headline,
    home_pages,
    home_title,
    is_single,
    more_actions_line,
    more_reviews_line,
    others_text,
)
from ....inbox import Home, HomeTask
from ....text import clip
from .block_kit import (
    Block,
    button_blocks,
    divider,
    header,
    rich_text,
)
from .card_message import action_blocks, doubt_blocks, notes_blocks, origin_blocks
from .markup import context_facts, context_lines, section, sections
from .mentions import place_names

#: A view has at most 100 blocks and 250 kB. The rest is reserved for the other parts.
MAX_BLOCKS = 100 - 30
MAX_BYTES = 150_000
#: The blocks of a review in its short form: divider, home_headline, hint.
SHORT_BLOCKS = 4
#: The most actions of one review.
MAX_ACTIONS = 3


class HomeChannel(Protocol):
    """The channel's methods that Home uses."""

    def name_of(self, place: Place) -> str:
        """The name of a place for people, for example `#team-ops`."""
        ...

    def link(self, ref: MessageRef) -> str:
        """The URL of a message."""
        ...


def view_blocks(home: Home, channel: HomeChannel) -> list[Block]:
    """At most 100 blocks, with unique ids."""
    names = place_names(channel.name_of, channel.link)
    content: list[Block] = [header("title", summary(home))]
    at, buttons = home_pages(home.page, home.pages)
    if home.pages > 1:
        content += context_lines("page", [at])
    if home.alerts:
        content += context_lines("alerts", home.alerts)
    if not home.mine and not home.others and not home.decided and not home.alerts:
        return [*content, *context_lines("empty", [NOTHING_YET])]
    for number, task in enumerate(home.mine, start=1):
        room = MAX_BLOCKS - len(content) - SHORT_BLOCKS * (len(home.mine) - number)
        full = _task_blocks(task, names)
        fits = len(full) <= room and _byte_size([*content, *full]) < MAX_BYTES
        content += full if fits else _short_task_blocks(task, names)
    content += _rest_blocks(home, names)
    paging = button_blocks("pages", buttons, "home_page")
    return [*content, divider("line:page"), *paging] if paging else content


def error_blocks(why: str) -> list[Block]:
    """Replaces the Home when it could not be loaded."""
    return [header("title", ERROR_TITLE), rich_text("why", section([Verbatim(why)]))]


def list_blocks(home: Home, channel: HomeChannel) -> list[Block]:
    """The Home without buttons, for an ephemeral message."""
    names = place_names(channel.name_of, channel.link)
    content: list[Block] = [header("title", summary(home))]
    if home.alerts:
        content += context_lines("alerts", home.alerts)
    for task in home.mine:
        review_id = task.card.review_id
        head, *below = _headline_blocks(task, names, task.card.title)
        facts = rich_text(f"facts:{review_id}", *sections(fact_lines(task.card)))
        content += [
            divider(f"line:{review_id}"),
            head,
            *([facts] if task.card.waiting else []),
            *below,
        ]
        if task.ref is None:  # no card to open yet
            content += context_lines(f"show:{review_id}", [command_line(review_id)])
    if (more := home.total - len(home.mine)) > 0:
        content += context_lines("more", [more_reviews_line(more, more=home.more)])
    return [*content, *_rest_blocks(home, names)]


def summary(home: Home) -> str:
    return home_title(home.total, more=home.more, unsure=home.unsure)


def _task_blocks(task: HomeTask, names: PlaceNames) -> list[Block]:
    review_id = task.card.review_id
    content = [divider(f"line:{review_id}"), *_headline_blocks(task, names, task.card.title)]
    numbered = not is_single(task.card)
    for key in task.keys[:MAX_ACTIONS]:
        open_action = find_open_action(task.review, key, room=MAX_CALL)
        # Action keys are unique only in one review, and this view has several.
        content += _prefix_ids(
            review_id, action_blocks(review_id, open_action, names, numbered=numbered)
        )
    for doubt in [one for one in task.card.doubts if one.key in task.doubts][:MAX_ACTIONS]:
        content += _prefix_ids(review_id, doubt_blocks(review_id, doubt))
    if (more := max(len(task.keys), len(task.doubts)) - MAX_ACTIONS) > 0:
        content += context_lines(f"more:{review_id}", [more_actions_line(more)])
    return content


def _short_task_blocks(task: HomeTask, names: PlaceNames) -> list[Block]:
    """The short form of a waiting review, if the full one does not fit."""
    review_id = task.card.review_id
    hint = OPEN_CARD_HINT if task.ref else command_line(review_id)
    return [
        divider(f"line:{review_id}"),
        *_headline_blocks(task, names, card_summary(task.card))[: SHORT_BLOCKS - 2],
        *context_lines(f"short:{review_id}", [hint]),
    ]


def _headline_blocks(task: HomeTask, names: PlaceNames, title: str) -> list[Block]:
    """Who asks for what; below it, for whom, and the next deadlines."""
    card = task.card
    text = card_text(card, names)
    below = [*origin_blocks(text), *notes_blocks("unshown", text.problems)]
    line = home_headline(clip(title, 200), task.ref, names)
    return [
        rich_text(f"head:{card.review_id}", section(line)),
        *_prefix_ids(card.review_id, below),
    ]


def _rest_blocks(home: Home, names: PlaceNames) -> list[Block]:
    """What waits for others, and what this person decided."""
    others = [
        others_text(one.card, one.keys, names, at=one.at, ref=one.ref, is_unknown=one.is_unknown)
        for one in home.others
    ]
    decided = [
        decided_text(one.card, one.keys, names, at=one.at, ref=one.ref) for one in home.decided
    ]
    return [
        *_section_blocks("others", OTHERS_TITLE, others),
        *_section_blocks("decided", DECIDED_TITLE, decided),
    ]


def _section_blocks(key: str, title: str, reviews: Sequence[HomeText]) -> list[Block]:
    if not reviews:
        return []
    content = [divider(f"line:{key}"), header(f"title:{key}", title)]
    for at, text in enumerate(reviews):
        content.append(rich_text(f"{key}:{at}", *sections(text.lines)))
        content += context_facts(f"when:{key}:{at}", text.details)
    return content


def _prefix_ids(review_id: str, several: Sequence[Block]) -> list[Block]:
    return [{**one, "block_id": f"{review_id}:{one['block_id']}"} for one in several]


def _byte_size(content: Sequence[Block]) -> int:
    return len(json.dumps(content).encode())
