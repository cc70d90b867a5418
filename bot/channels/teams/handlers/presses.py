"""Handles the buttons of cards: they decide, open a form, or show something to read."""

from __future__ import annotations

import logging

from hitl_core.errors import Refused

from .... import click_budget, refusals
from ....forms import FormRef, FormService
from ....inbox import Inbox, InboxCommand, PermittedSnapshot, Press, ReadRequired
from ..ids import unreadable
from ..transport import Answer
from .answers import text_answer
from .click import Click
from .files import Files
from .views import Views

log = logging.getLogger(__name__)

#: After a decision whose result can't be shown.
STORED = "Your decision is stored."


class Presses:
    def __init__(self, inbox: Inbox, form_service: FormService, views: Views, files: Files) -> None:
        self._inbox, self._form_service, self._views, self._files = (
            inbox,
            form_service,
            views,
            files,
        )

    async def answer(self, press: Press, click: Click) -> Answer:
        """Raises Refused, ChannelError, StoreUnavailable, TimeoutError; then nothing was decided."""
        if (command := press.command(click.who, click.op, click.card)) is not None:
            return await self._apply(command, click)
        if (form := FormRef.of_button(press, click.card)) is not None:
            async with click_budget.timeout("open"):
                return await self._open(form, click)
        if press.verb == "file":
            return await self._files.offer(press.target, click)
        async with click_budget.timeout("page"):
            return await self._show_page(press, click)

    async def close(self, review_id: str, click: Click) -> Answer:
        """Show the card again, or the Home, at the page where it was."""
        async with click_budget.timeout("page"):
            if click.where.in_home:
                return await self._views.home(click)
            return await self._views.card(review_id, click)

    async def _apply(self, command: InboxCommand, click: Click) -> Answer:
        """Commit first, then answer."""
        reply = await self._inbox.apply(command)
        if reply.unread is not None:
            async with click_budget.timeout("show"):
                target, why = reply.unread
                return await self._views.arguments(target, 0, click, reply.snapshot, why)
        if reply.unanswered is not None:
            async with click_budget.timeout("show"):
                form = FormRef("approve", reply.unanswered, card=click.card)
                return await self._open(form, click, reply.snapshot)
        if reply.code != "ok":
            return text_answer(reply.text)
        return await self.show_result(command.review_id, click, reply.snapshot)

    async def show_result(
        self, review_id: str, click: Click, seen: PermittedSnapshot | None
    ) -> Answer:
        """Show the result of a decision. Never raises, because the decision is stored."""
        try:
            async with click_budget.timeout("show"):
                return await self._views.after(review_id, click, seen)
        except Exception as error:
            log.warning("review %s: what follows could not be shown: %s", review_id, error)
            return text_answer(STORED)

    async def _open(
        self, form: FormRef, click: Click, seen: PermittedSnapshot | None = None
    ) -> Answer:
        if form.kind == "escalate" and form.card is None:
            raise Refused("gone", refusals.ESCALATE_ON_CARD)
        try:
            page = await self._form_service.open(form, click.who, seen)
        except ReadRequired as required:
            target, why = required.unread
            return await self._views.arguments(target, 0, click, why=why)
        return self._views.form(page, click.op, click)

    async def _show_page(self, press: Press, click: Click) -> Answer:
        target, views, place = press.target, self._views, click.where.place
        turns = press.verb in ("back", "next")
        if target.action and (turns or press.verb == "see"):
            return await views.arguments(target, press.number, click)
        if press.verb == "review":
            return await views.first_review(target.review_id, press.number, click)
        if turns and target.review_id and place is not None:
            return await views.review_page(target.review_id, place, press.number, click)
        if turns and click.where.kind == "home":
            return await views.home(click, press.number)
        raise unreadable()
