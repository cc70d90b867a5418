"""A person's Home: what waits for them, as lines of text with buttons."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from bot.card import (
    DECIDED_TITLE,
    MAX_CALL,
    NOTHING_YET,
    OPEN_CARD_HINT,
    OTHERS_TITLE,
    HomeText,
    Line,
    PlaceNames,
    Strong,
    action_text,
    card_summary,
    card_text,
    decided_text,
    doubt_text,
    find_open_action,
    home_headline,
    home_pages,
    home_title,
    is_single,
    others_text,
)
from bot.channels.contract import ChannelError
from bot.inbox import Home, HomeLoader, HomeTask, HomeView, Inbox, list_error
from bot.text import clip
from hitl_core.errors import HitlError

from .channel import TextChannel
from .network import Content
from .render import NAME, action_content, join, notice, to_buttons, to_lines

MAX_TITLE = 200


class TextHome:
    def __init__(self, channel: TextChannel, inbox: Inbox, homes: HomeLoader) -> None:
        self._channel, self._inbox, self._homes = channel, inbox, homes

    async def open(self, person: str) -> None:
        """Shows the Home, which is updated for a while from now on."""
        try:
            await self._homes.views.record_open(f"{NAME}:{person}")
            await self.publish(person, 0)
        except (HitlError, ChannelError) as error:
            await self._channel.show_home(person, notice(list_error(error, "the text channel")))

    async def publish(self, person: str, page: int | None = None) -> None:
        """Shows this page, or the current one. Raises ChannelError, StoreUnavailable."""
        views, key = self._homes.views, f"{NAME}:{person}"
        who = await self._inbox.directory.load_reviewer(NAME, person, TextChannel.team, person)
        if page is None:
            page = (await views.load(key)).page
        home = await self._homes.load_home(who, page)
        await self._channel.show_home(person, home_content(home, self._channel.names))
        await views.save(key, HomeView(home.page))


def home_content(home: Home, names: PlaceNames) -> Content:
    """Each review that waits in full if that fits, else as one line with its place."""
    content = Content(
        to_lines([(Strong(home_title(home.total, more=home.more, unsure=home.unsure)),)])
    )
    if not home.mine and not home.others and not home.decided:
        return join(content, Content(to_lines([NOTHING_YET])))
    others = [
        others_text(one.card, one.keys, names, at=one.at, ref=one.ref, is_unknown=one.is_unknown)
        for one in home.others
    ]
    decided = [
        decided_text(one.card, one.keys, names, at=one.at, ref=one.ref) for one in home.decided
    ]
    rest = join(_section(OTHERS_TITLE, others), _section(DECIDED_TITLE, decided))
    foot = join(rest, _pages(home))
    short = [_short_task(task, names) for task in home.mine]
    numbers = itertools.count(1)
    for at, task in enumerate(home.mine):
        full = _task(task, names, numbers)
        fits = join(content, full, *short[at + 1 :], foot).fits
        content = join(content, full if fits else short[at])
    return join(content, foot)


def _task(task: HomeTask, names: PlaceNames, numbers: Iterator[int]) -> Content:
    """`numbers` distinguishes the buttons of all actions in the Home."""
    review_id, text = task.card.review_id, card_text(task.card, names)
    problems = [line for one in text.problems for line in one]
    head = to_lines([_headline(task.card.title, task, names), *text.origin, *problems])
    numbered = not is_single(task.card)
    actions = [
        action_text(
            review_id, find_open_action(task.review, key, room=MAX_CALL), names, numbered=numbered
        )
        for key in task.keys
    ]
    doubts = [doubt_text(review_id, one) for one in task.card.doubts if one.key in task.doubts]
    parts = [action_content(one, next(numbers)) for one in (*actions, *doubts)]
    return join(Content(head), *parts)


def _short_task(task: HomeTask, names: PlaceNames) -> Content:
    return Content(to_lines([_headline(card_summary(task.card), task, names), OPEN_CARD_HINT]))


def _headline(title: str, task: HomeTask, names: PlaceNames) -> Line:
    return home_headline(clip(title, MAX_TITLE), task.ref, names)


def _section(title: str, reviews: Sequence[HomeText]) -> Content:
    lines: list[Line] = [(Strong(title),)] if reviews else []
    return Content(
        to_lines([*lines, *(line for one in reviews for line in (*one.lines, *one.details))])
    )


def _pages(home: Home) -> Content:
    at, buttons = home_pages(home.page, home.pages)
    return Content(to_lines([at]), to_buttons(buttons)) if home.pages > 1 else Content(())
