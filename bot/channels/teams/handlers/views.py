"""Draws what one person sees in place of a card after a press, from the review as it is now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from hitl_core.errors import Refused
from hitl_core.model import Place, is_digest_id

from ....card import Line, build_card
from ....forms import Entries, FormPage
from ....inbox import ActionPage, ActionRef, Inbox, PermittedSnapshot
from ....offload import offload_drawing
from ..channel import TeamsChannel
from ..render import (
    CardBuilder,
    Json,
    arguments_card,
    card_message,
    form_card,
    notice_card,
    review_card,
    review_fits,
    split_arguments,
)
from ..transport import Answer
from .answers import card_answer
from .click import Click
from .home import TeamsHome


class Views:
    """Every method raises Refused. `seen`: a review that this press has loaded; it is not loaded again."""

    def __init__(self, inbox: Inbox, channel: TeamsChannel, home: TeamsHome) -> None:
        self._inbox, self._channel, self._home = inbox, channel, home

    async def after(self, review_id: str, click: Click, seen: PermittedSnapshot | None) -> Answer:
        """The view after a decision: the card as it is now, the Home, or the next action of the Review."""
        match click.where.kind:
            case "press":
                return await self.card(review_id, click, seen)
            case "home":
                return await self.home(click, None, seen)
            case "review":
                return await self.review(review_id, click, seen)
        assert_never(click.where.kind)

    async def card(
        self, review_id: str, click: Click, seen: PermittedSnapshot | None = None
    ) -> Answer:
        """The card of this message. Its update waits for this person no longer, also if the card can't be
        shown to them: then the update shows them the message.
        """

        async def close() -> None:
            if click.message is not None:
                await self._inbox.open_views.close(review_id, click.message, click.who)

        try:
            card = await self.current_card(review_id, click, seen)
        except Refused:
            await close()
            raise
        return card_answer(card, close)

    async def current_card(
        self, review_id: str, click: Click, seen: PermittedSnapshot | None = None
    ) -> Json:
        channel, key = self._channel, self._channel.key_in(click.conversation)
        if is_digest_id(review_id):
            digest = await self._inbox.reader.digest_card(review_id, click.who)
            return card_message(digest, channel.name_of, key, channel.link)
        snapshot, place = await self._inbox.access.find_place(
            review_id, click.card, click.who, seen
        )
        review, posts = snapshot.review, snapshot.posts
        return await offload_drawing(
            review,
            lambda: card_message(
                build_card(review, place, posts, held=snapshot.held),
                channel.name_of,
                key,
                channel.link,
            ),
        )

    async def home(
        self, click: Click, page: int | None = None, seen: PermittedSnapshot | None = None
    ) -> Answer:
        """The Home. Also raises ChannelError, StoreUnavailable."""
        return card_answer(await self._home.draw(click.who, click.conversation, page, seen))

    async def arguments(
        self,
        target: ActionRef,
        number: int,
        click: Click,
        seen: PermittedSnapshot | None = None,
        why: Line = (),
    ) -> Answer:
        """This page of all arguments; `why` says why it is shown, if the person did not ask for it."""
        reader = self._inbox.reader
        page = await reader.arguments(target, number, click.who, split_arguments, seen)
        return self._show_instead(
            arguments_card(page, self._builder(click), why), click, page.reads
        )

    async def first_review(self, review_id: str, number: int, click: Click) -> Answer:
        """The actions of this card one by one, from this page."""
        reader, fits = self._inbox.reader, self._fits(click)
        page = await reader.first_action(review_id, number, click.card, click.who, fits)
        return self._review(page, click)

    async def review_page(self, review_id: str, place: Place, number: int, click: Click) -> Answer:
        reader, fits = self._inbox.reader, self._fits(click)
        page = await reader.action(review_id, place, number, click.who, fits=fits)
        return self._review(page, click)

    async def review(self, review_id: str, click: Click, seen: PermittedSnapshot | None) -> Answer:
        """The next waiting action of the Review."""
        place, number, who = click.where.place, click.where.number, click.who
        assert place is not None  # a page of the Review has one
        about = click.where.digest or review_id
        page = await self._inbox.reader.action(
            about, place, number, who, seen, next_pending=True, fits=self._fits(click)
        )
        return self._review(page, click)

    def form(
        self,
        page: FormPage,
        session_id: str,
        click: Click,
        entries: Entries | None = None,
        errors: Mapping[str, str] | None = None,
    ) -> Answer:
        """The form. With `entries` it has the person's input, and with `errors` what is wrong with it."""
        card = form_card(page, session_id, self._builder(click), entries, errors)
        return self._show_instead(card, click)

    def notice(self, text: str, title: str, review_id: str, click: Click) -> Answer:
        """A notice in place of a form that is no longer useful."""
        return self._show_instead(notice_card(text, title, self._builder(click), review_id), click)

    def _fits(self, click: Click) -> Callable[[ActionPage], bool]:
        builder = self._builder(click)
        return lambda page: review_fits(page, builder)

    def _review(self, page: ActionPage, click: Click) -> Answer:
        return self._show_instead(review_card(page, self._builder(click)), click, page.reads)

    def _show_instead(
        self, card: dict[str, object], click: Click, reads: ActionRef | None = None
    ) -> Answer:
        """The card, shown in place of the card or Home. After Teams has received it, it is recorded what the
        person has read, and that their Home is covered, or that the card's update waits.
        """

        async def record() -> None:
            if reads is not None:
                await self._inbox.access.read_marks.record(reads, click.who)
            if click.where.in_home:
                await self._home.cover(click.who, click.message_id)
            elif click.message is not None:
                await self._inbox.open_views.record(click.message, click.who)

        return card_answer(card, record)

    def _builder(self, click: Click) -> CardBuilder:
        """Draws for the view of the click, so that what is shown in its place leads back to it."""
        channel, key = self._channel, self._channel.key_in(click.conversation)
        return CardBuilder.of(channel.name_of, key, channel.link, click.where)
