"""Opens forms, takes what people enter, and passes the result on to the inbox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import assert_never

from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.forms import FormErrors
from hitl_core.jsonschema import SchemaError
from hitl_core.model import Action, Place, Reviewer, Snapshot, is_text
from hitl_core.review import Decide, Escalate, Proposal, holds
from hitl_core.sentences import join_names

from .. import refusals
from ..inbox import Inbox, PermittedSnapshot, Reply
from ..offload import offload_drawing
from ..text import one_line
from .drafts import Drafts
from .form_choice import first_page, has_fields, make_review_form
from .limits import FormLimits
from .message_form import HALF_CHARACTER, escalation_page
from .page import (
    FIELD_KINDS,
    MESSAGE,
    Entries,
    FieldErrors,
    FormPage,
    FormRef,
    FormResult,
    Notice,
    repeat_notice,
    to_result,
)
from .review_form import ReviewForm


class FormService:
    """The forms of one channel. `session_id` identifies one open form in the channel, with all its pages."""

    def __init__(self, inbox: Inbox, limits: FormLimits, name_of: Callable[[Place], str]) -> None:
        """`name_of` returns the name of a place for people."""
        self._inbox, self._limits, self._name_of = inbox, limits, name_of
        self._drafts = Drafts(inbox.store)

    async def open(
        self, ref: FormRef, who: Reviewer, seen: PermittedSnapshot | None = None
    ) -> FormPage:
        """The page of a new form. Raises Refused, and ReadRequired if the person must read all arguments
        first. `seen`: the review that the same click has loaded.
        """
        if ref.kind == "escalate":
            return await self._open_escalation(ref, who)
        access = self._inbox.access
        snapshot, action = await access.load_for_decision(ref.target, ref.kind, who, seen=seen)
        draw = partial(first_page, snapshot.review, action, ref, self._limits)
        page, shows_all = await offload_drawing(snapshot.review, draw)
        if not shows_all:
            async with access.refusal_audit.watch(ref.target.review_id, who, action.key):
                access.read_marks.check(snapshot, {action.key: ref.kind}, ref.target.seal)
        return page

    async def redraw(
        self,
        ref: FormRef,
        session_id: str,
        entries: Entries,
        who: Reviewer,
        *,
        back: bool = False,
        for_retry: bool = False,
    ) -> FormPage:
        """The page again, after a choice that changes the fields; with `back` the page before. `for_retry`:
        the person should send the same page again, so it keeps its draft. Raises Refused.
        """
        assert ref.kind in FIELD_KINDS  # the others have no choices and no pages
        self._check_length(entries)
        access = self._inbox.access
        snapshot, action = await access.load_for_decision(ref.target, ref.kind, who)
        review = snapshot.review
        draft = await self._drafts.load(session_id, who, ref.draft)
        form = await offload_drawing(
            review,
            lambda: make_review_form(review, action, ref, self._limits, draft).enter(entries),
        )
        page = form.session.page - back
        if for_retry or not (back or ref.draft):
            return await offload_drawing(review, lambda: _page_of(form, page))
        return await self._go_to_page(snapshot, session_id, form, page)

    async def submit(
        self, ref: FormRef, session_id: str, entries: Entries, who: Reviewer, op: str
    ) -> FormResult:
        """Takes the entries of the current page. `op` is the id of this submission: it counts only once."""
        message = entries.answers.get(MESSAGE)
        if message is not None and not is_text(message):
            return FieldErrors({MESSAGE: HALF_CHARACTER})
        try:
            self._check_length(entries)
            if ref.kind == "escalate":
                assert ref.card is not None  # the button is on that message
                steps = ref.target.revision
                command = Escalate(ref.target.review_id, ref.card, steps, who, op, message)
                return to_result(await self._inbox.apply(command))
            access, target = self._inbox.access, ref.target
            snapshot, action = await access.load_for_decision(target, ref.kind, who, op)
            if (stored := snapshot.review.ops.get(op)) is not None:
                return repeat_notice(stored)  # the answer to the first attempt was lost
            if not has_fields(action, ref):
                proposal = Proposal(ref.kind, target.revision, message, seal=target.seal)
                return await self._decide(snapshot, ref, proposal, op)
            return await self._submit_form(snapshot, action, ref, session_id, entries, op)
        except Refused as refused:
            return to_result(Reply.refusal(refused))
        except (InvalidToolCall, SchemaError) as error:
            return Notice(str(error), fixable=True)

    def _check_length(self, entries: Entries) -> None:
        """Raises Refused for a text that no input of this channel allows: each character costs time."""
        most = self._limits.text
        if any(len(answer or "") > most for answer in entries.answers.values()):
            raise Refused("invalid_answer", refusals.too_long(most))

    async def _submit_form(
        self,
        snapshot: PermittedSnapshot,
        action: Action,
        ref: FormRef,
        session_id: str,
        entries: Entries,
        op: str,
    ) -> FormResult:
        draft = await self._drafts.load(session_id, snapshot.who, ref.draft)

        def read() -> tuple[ReviewForm, Proposal | FormErrors | FormPage | int]:
            """The form, and what it contains, or the number of the page that follows."""
            form = make_review_form(snapshot.review, action, ref, self._limits, draft)
            form = form.enter(entries)
            if not form.session.shows(entries):
                # It was sent before the client showed the fields of a new choice.
                page = form.session.page
                return form, page if ref.draft else _page_of(form, page)
            try:
                proposal = form.proposal()
            except FormErrors as errors:
                return form, errors
            if not form.session.is_last_page:
                return form, form.session.page + 1
            if warning := form.warning(proposal):
                return form, form.with_confirmation(proposal).page(warning)
            return form, proposal

        form, content = await offload_drawing(snapshot.review, read)
        match content:
            case FormPage():
                return content
            case FormErrors():
                return await self._show_errors(snapshot, session_id, form, content)
            case Proposal():
                result = await self._decide(snapshot, ref, content, op, form.session.shows_all)
                return await self._keep_open(snapshot, form, result)
            case int():
                return await self._go_to_page(snapshot, session_id, form, content)
        assert_never(content)

    async def _show_errors(
        self,
        snapshot: PermittedSnapshot,
        session_id: str,
        form: ReviewForm,
        errors: FormErrors,
    ) -> FormResult:
        """Show errors beside the fields of this page; after the last page, the first page with an error."""
        session = form.session
        page = session.page_with_error(errors)
        if page != session.page and not session.is_last_page:
            return await self._go_to_page(snapshot, session_id, form, session.page + 1)
        problem = f"Not sent yet: {session.error_text(errors)}"
        if page is not None and page != session.page:
            return await self._go_to_page(snapshot, session_id, form, page, problem)
        if by_field := session.field_errors(errors):
            return FieldErrors(by_field)
        return await offload_drawing(snapshot.review, lambda: _page_of(form, session.page, problem))

    async def _keep_open(self, seen: Snapshot, form: ReviewForm, result: FormResult) -> FormResult:
        """The result with the problem at the top of the form, if the person can fix it and it is not about a
        field. A retry sends the form unchanged.
        """
        if not isinstance(result, Notice) or not result.fixable or result.retry:
            return result
        problem = one_line(result.text)
        return await offload_drawing(
            seen.review, lambda: _page_of(form, form.session.page, problem)
        )

    async def _go_to_page(
        self,
        snapshot: PermittedSnapshot,
        session_id: str,
        form: ReviewForm,
        page: int,
        problem: str = "",
    ) -> FormPage:
        """Saves the answers, and returns this page. Without the save, the older draft would bring back
        answers for another choice.
        """
        saved = await self._drafts.save(
            session_id, snapshot.who, form.session.answers, form.ref.draft
        )
        return await offload_drawing(
            snapshot.review, lambda: form.at_page(page, draft=saved).page(problem)
        )

    async def _decide(
        self,
        seen: PermittedSnapshot,
        ref: FormRef,
        proposal: Proposal,
        op: str,
        shows_all: bool = False,
    ) -> FormResult:
        target = ref.target
        command = Decide(target.review_id, target.action, proposal, seen.who, op, ref.card)
        is_read_here = ref.kind == "edit" and shows_all
        if is_read_here and target.seal != seen.review.seal(target.action, is_whole=True):
            new = await self._inbox.access.read_marks.record(target, seen.who)
            seen = replace(seen, marks=seen.marks | new)
        return to_result(await self._inbox.apply(command, seen))

    async def _open_escalation(self, ref: FormRef, who: Reviewer) -> FormPage:
        assert ref.card is not None  # the button is on that message
        access = self._inbox.access
        snapshot, place = await access.load_for_escalation(ref.target.review_id, ref.card, who)
        holds.check_not_held(snapshot)
        waiting = [a for a in snapshot.review.actions if a.is_pending and place in a.places]
        steps = {a.route.escalate[a.next_step].to for a in waiting if a.next_step is not None}
        if not steps:
            raise Refused("nothing_to_escalate", refusals.NO_STEP)
        to = join_names(map(self._name_of, sorted(steps)))
        return escalation_page(snapshot.review, waiting, ref, to)


def _page_of(form: ReviewForm, page: int, problem: str = "") -> FormPage:
    return form.at_page(page, draft=form.ref.draft).page(problem)
