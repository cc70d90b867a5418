"""The pages that people read before they decide: all arguments of a call, page by page, and the actions of a
card one by one. A channel only draws a page.

`ReadMarks` records what a person has read (`reads`), after the channel has shown the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from hitl_core.model import MessageRef, Place, Review, Reviewer, is_digest_id

from ...card import (
    Argument,
    Button,
    Card,
    Line,
    approved_text,
    argument_plain_text,
    arguments_head,
    arguments_pages,
    asker_line,
    build_card,
    find_open_action,
    name_and_arguments,
    page_keys,
    reading_buttons,
)
from ...offload import offload_drawing
from ..access import ReviewAccess
from ..press import ActionRef
from ..reply import PermittedSnapshot
from .action_pages import ActionPage, action_page, next_actions
from .digest_pages import DigestPages

C = TypeVar("C")

#: The most characters of a file's name before its ending.
MAX_NAME = 80


@dataclass(frozen=True)
class ArgumentsPage(Generic[C]):
    """Page `number` (from 0) of all arguments of an action. `content` is in the channel's format, `head` is
    the line above it, `asker` says who asks for the action, for whom and until when. The next page can only
    be reached from the one before, so a person who sees the last page has read all.
    """

    target: ActionRef
    number: int
    count: int
    head: Line
    asker: Line
    content: C
    buttons: tuple[Button, ...]

    @property
    def reads(self) -> ActionRef | None:
        """What the person has read in full after this page was shown."""
        return self.target if self.number == self.count - 1 else None


class ArgumentsFile(NamedTuple):
    """All arguments of an action, to post below the card `ref` at `place`."""

    place: Place
    ref: MessageRef
    name: str
    text: str


class ArgumentsText(NamedTuple):
    """All arguments of an action, as a file."""

    name: str
    data: bytes


class Reader:
    """Every method raises Refused. `seen`: a review that this click has loaded; it is not loaded again."""

    def __init__(self, access: ReviewAccess) -> None:
        self._access = access
        self._digests = DigestPages(access)

    async def arguments(
        self,
        target: ActionRef,
        number: int,
        who: Reviewer,
        split: Callable[[Sequence[Argument]], Sequence[C]],
        seen: PermittedSnapshot | None = None,
    ) -> ArgumentsPage[C]:
        """This page, or the last one if there are fewer. `split` makes the channel's pages: at least one."""
        snapshot = await self._access.load_for_view(target, who, seen)
        review = snapshot.review

        def draw() -> ArgumentsPage[C]:
            name, arguments = name_and_arguments(review, target.action)
            answers = () if snapshot.held else _answers(review, target)
            asker = _asker(review, target)
            return arguments_page(target, name, arguments, number, split, answers, asker)

        return await offload_drawing(review, draw)

    async def approval_result(
        self, target: ActionRef, who: Reviewer, seen: PermittedSnapshot | None = None
    ) -> str:
        """What this person's approval did."""
        review = (await self._access.load_for_view(target, who, seen)).review
        return approved_text(find_open_action(review, target.action, room=0))

    async def file(self, target: ActionRef, who: Reviewer) -> ArgumentsFile:
        snapshot, place, ref = await self._access.find_message(target, who)

        def draw() -> ArgumentsFile:
            name, arguments = name_and_arguments(snapshot.review, target.action)
            return ArgumentsFile(place, ref, file_name(name), to_text(arguments))

        return await offload_drawing(snapshot.review, draw)

    async def text(self, target: ActionRef, who: Reviewer) -> ArgumentsText:
        """All arguments as text, for one person: they need not be where the review is shown."""
        review = (await self._access.load_for_view(target, who)).review

        def draw() -> ArgumentsText:
            name, arguments = name_and_arguments(review, target.action)
            # Half a surrogate pair is written as its number, because UTF-8 can't have it.
            return ArgumentsText(
                file_name(name), to_text(arguments).encode(errors="backslashreplace")
            )

        return await offload_drawing(review, draw)

    async def first_action(
        self,
        review_id: str,
        number: int,
        card: MessageRef | None,
        who: Reviewer,
        fits: Callable[[ActionPage], bool] | None = None,
    ) -> ActionPage:
        """This page of the actions on a card, or of the reviews in a digest. Without a card, those of the
        first place where this person may decide.
        """
        if is_digest_id(review_id):
            return await self._digests.page(review_id, number, who, fits=fits)
        snapshot, place = await self._access.find_place(review_id, card, who)
        return await self.action(review_id, place, number, who, snapshot, fits=fits)

    async def card(self, review_id: str, who: Reviewer) -> Card:
        """The card of a review at the first place where this person may decide, for them alone."""
        snapshot, place = await self._access.find_place(review_id, None, who)
        review, posts = snapshot.review, snapshot.posts
        card = await offload_drawing(
            review, lambda: build_card(review, place, posts, held=snapshot.held)
        )
        return replace(card, is_private=True)

    async def digest_card(self, digest_id: str, who: Reviewer) -> Card:
        """The card of a digest's message, for a person for whom one of its reviews waits."""
        return await self._digests.card(digest_id, who)

    async def action(
        self,
        review_id: str,
        place: Place,
        number: int,
        who: Reviewer,
        seen: PermittedSnapshot | None = None,
        *,
        next_pending: bool = False,
        fits: Callable[[ActionPage], bool] | None = None,
    ) -> ActionPage:
        """This page of the actions at a place, or the last one if there are fewer. With `next_pending`, the
        next waiting action that this person may approve, from this page on, then from the beginning. In
        a digest each page is a review. `fits` says whether the channel can show a page; if not, its arguments
        are cut, and nobody counts as having read all.
        """
        if is_digest_id(review_id):
            return await self._digests.page(
                review_id, number, who, next_pending=next_pending, fits=fits
            )
        snapshot = await self._access.load_at_place(review_id, place, who, seen)
        review, held = snapshot.review, snapshot.held
        if next_pending:
            actions = next_actions(review, place, number, who)
            if (after := await self._access.first_decidable(snapshot, actions)) is not None:
                number = page_keys(review, place).index(after.key)
        return await offload_drawing(
            review, lambda: action_page(review, place, number, fits, held=held)
        )


def arguments_page(
    target: ActionRef,
    name: str,
    arguments: Sequence[Argument],
    number: int,
    split: Callable[[Sequence[Argument]], Sequence[C]],
    answers: tuple[Button, ...] = (),
    asker: Line = (),
) -> ArgumentsPage[C]:
    """`answers` are buttons on the last page, which only people see who have read all."""
    pages = split(arguments)
    count = len(pages)
    number = max(0, min(number, count - 1))
    buttons = arguments_pages(target.review_id, target.action, target.revision, number, count)
    if number == count - 1:
        buttons = (*answers, *buttons)
    head = arguments_head(name, number, count)
    return ArgumentsPage(target, number, count, head, asker, pages[number], buttons)


def _asker(review: Review, target: ActionRef) -> Line:
    """Who asks; () for a call that needed nobody."""
    action = review.action(target.action)
    return asker_line(review, action) if action else ()


def _answers(review: Review, target: ActionRef) -> tuple[Button, ...]:
    """The buttons; () if the action was edited since the first page."""
    action = review.action(target.action)
    if action is None or review.cancelled or action.revision != target.revision:
        return ()
    return reading_buttons(review.id, find_open_action(review, action.key))


def to_text(arguments: Sequence[Argument]) -> str:
    """All arguments as the text of a file."""
    return "\n\n".join(map(argument_plain_text, arguments)) + "\n"


def file_name(tool: str) -> str:
    """The name of a text file that every system accepts and that hides nothing: letters, digits, `_`, `-`."""
    clean = re.sub(r"[^\w-]+", "_", tool)[:MAX_NAME]
    return f"{clean or 'file'}.txt"
