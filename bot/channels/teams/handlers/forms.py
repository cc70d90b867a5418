"""Handles forms that are shown in place of a card: sent, sent back, and drawn again for another choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, assert_never, get_args

from .... import click_budget, refusals
from ....forms import (
    FIELD_KINDS,
    MESSAGE,
    Entries,
    FieldErrors,
    FormPage,
    FormResult,
    FormService,
    Notice,
    Stored,
    to_result,
)
from ....inbox import Reply
from ..ids import FormVerb, OpenForm, unreadable
from ..render import read_entries
from ..transport import Answer
from .click import Click, op_of_form
from .presses import Presses
from .views import Views


class Forms:
    def __init__(self, form_service: FormService, views: Views, presses: Presses) -> None:
        self._form_service, self._views, self._presses = form_service, views, presses

    async def answer(
        self, form: OpenForm, verb: str, inputs: Mapping[str, Any], click: Click
    ) -> Answer:
        """`inputs`: those of the form's page, as Teams sends them. Raises Refused, TimeoutError."""
        if verb not in get_args(FormVerb):
            raise unreadable()
        entries = read_entries(inputs, form.ids)
        if verb in ("back", "redraw") and form.ref.kind in FIELD_KINDS:
            async with click_budget.timeout("page"):
                page = await self._form_service.redraw(
                    form.ref, form.session_id, entries, click.who, back=verb == "back"
                )
            return self._views.form(page, form.session_id, click)
        return await self._submit(form, entries, click)

    async def _submit(self, form: OpenForm, entries: Entries, click: Click) -> Answer:
        op = op_of_form(form, click.who, entries.answers)
        try:
            async with click_budget.timeout("submit"):
                result = await self._form_service.submit(
                    form.ref, form.session_id, entries, click.who, op
                )
        except TimeoutError:
            result = to_result(Reply("unavailable", refusals.RESULT_UNKNOWN))
        return await self._show(result, form, entries, click)

    async def _show(
        self, result: FormResult, form: OpenForm, entries: Entries, click: Click
    ) -> Answer:
        match result:
            case Stored():
                review_id = form.ref.target.review_id
                return await self._presses.show_result(review_id, click, result.snapshot)
            case FormPage():
                return self._views.form(result, form.session_id, click)
            case FieldErrors():
                page = await self._page_again(form, entries, click)
                return self._views.form(page, form.session_id, click, entries, result.errors)
            case Notice() if result.fixable:
                page = await self._page_again(form, entries, click, for_retry=result.retry)
                page = replace(page, problem=result.text)
                return self._views.form(page, form.session_id, click, entries)
            case Notice():
                review_id = form.ref.target.review_id
                return self._views.notice(result.text, result.title, review_id, click)
        assert_never(result)

    async def _page_again(
        self, form: OpenForm, entries: Entries, click: Click, *, for_retry: bool = False
    ) -> FormPage:
        """The page that was sent, with the person's entries. Raises Refused."""
        async with click_budget.timeout("next"):
            if form.ref.kind not in FIELD_KINDS or MESSAGE in entries.answers:
                return await self._form_service.open(form.ref, click.who)
            return await self._form_service.redraw(
                form.ref, form.session_id, entries, click.who, for_retry=for_retry
            )
