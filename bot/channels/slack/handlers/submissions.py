"""Submitted modals → the inbox. A modal closes when its input was stored; errors that the person can fix are
shown beside the fields.

Every handler commits first and acknowledges last. Nothing after `ack` may raise: Bolt's default runner would
turn the acknowledgement into a 404.
"""

from __future__ import annotations

import logging
from typing import Any

from slack_bolt.async_app import AsyncAck

from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.forms import FormErrors
from hitl_core.jsonschema import SchemaError
from hitl_core.model import DecisionType, Review, Reviewer, Snapshot, is_text
from hitl_core.review import Proposal

from .... import click_budget
from ....inbox import RESULT_UNKNOWN, Inbox, Reply
from ....offload import offload_drawing
from .. import ids
from ..ids import Body, ModalMeta
from ..modals import ACTION_ID, BACK, FormModal, small_modals
from .responder import REPLY_TIMEOUT, Responder
from .views import Views, build_form

log = logging.getLogger(__name__)

#: callback_id → the decision of that modal. FORM_CALLBACKS are those with a form made from a schema.
DECISIONS: dict[str, DecisionType] = {
    "edit": "edit",
    "reject": "reject",
    "respond": "respond",
    "answer_respond": "respond",
    "answer_approve": "approve",
}
FORM_CALLBACKS = {"edit", "answer_respond", "answer_approve"}
#: Refusals that the person can fix in the modal. After any other one a notice replaces the modal.
FIXABLE_CODES = frozenset(
    {
        "busy",
        "denied",
        "invalid_answer",
        "invalid_args",
        "message_required",
        "unavailable",
        "unchanged",
    }
)
#: Event kind → what the submission did.
_DONE_TEXTS = {
    "decided": "it was the decision",
    "edited": "your edit is stored and now needs approval",
    "voted": "your vote counts",
}
#: In seconds. Slack accepts an answer within 3 s.
ANSWER_TIMEOUT = 2.2
HALF_CHARACTER = (
    "This contains half a character (maybe a broken emoji), which can't be stored. Type it again."
)

#: The answer to a submitted modal. An empty one closes it.
AckResponse = dict[str, Any]


class Submissions:
    def __init__(self, inbox: Inbox, views: Views, responder: Responder) -> None:
        self._inbox, self._views, self._responder = inbox, views, responder

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        for callback_id in (*DECISIONS, "escalate"):
            app.view(callback_id)(self.submit)
        # A choice that changes the fields after it, and "Back".
        app.action({"action_id": ACTION_ID, "type": "block_actions"})(self.redraw)
        app.action(BACK)(self.redraw)

    async def submit(self, ack: AsyncAck, body: Body) -> None:
        view = body["view"]
        who = await self._responder.load_reviewer(body)
        try:
            async with click_budget.timeout(ANSWER_TIMEOUT):
                answer = await self._handle_submission(view, ids.parse_meta(view), who)
        except TimeoutError:
            answer = _reply_response(Reply("unavailable", RESULT_UNKNOWN), view)
        if not answer:
            await self._show_next_action(view, who)
        await ack(**answer)

    async def redraw(self, ack: AsyncAck, body: Body) -> None:
        """Shows the form again: with the fields of the new choice, or the page before."""
        view = ids.view_of(body)
        if view.get("callback_id") not in FORM_CALLBACKS:
            await ack()  # no form of ours has such a button
            return
        who, meta = await self._responder.load_reviewer(body), ids.parse_meta(view)
        back = body["actions"][0]["action_id"] == BACK
        try:
            kind = DECISIONS[str(view["callback_id"])]
            snapshot = await self._inbox.access.load_for_decision(meta.target, kind, who)
            modal = await self._load_form(snapshot, view, meta, who)
            if back or meta.has_draft:  # else the draft would bring back answers for another choice
                await self._inbox.drafts.save(_draft_key(view, who), modal.answers)
            page = modal.form_state.page - back
            new_view = await offload_drawing(
                snapshot.review,
                lambda: modal.at_page(page, has_draft=back or meta.has_draft).view(),
            )
        except Refused as refused:
            await self._responder.show_refusal(body, refused)
        else:
            await self._responder.update_modal(str(view["id"]), new_view)
        await ack()

    async def _handle_submission(self, view: Body, meta: ModalMeta, who: Reviewer) -> AckResponse:
        op = ids.op_of_submission(view, who.id)
        callback_id = str(view["callback_id"])
        message = small_modals.read_message(view["state"]["values"])
        if message is not None and not is_text(message):
            return _error_response({_first_input(view): HALF_CHARACTER})
        try:
            if callback_id == "escalate":
                assert meta.card is not None  # the button is on that message
                reply = await self._inbox.escalate(meta.target, meta.card, message, who, op)
                return _reply_response(reply, view)
            kind = DECISIONS[callback_id]
            snapshot = await self._inbox.access.load_for_decision(meta.target, kind, who, op)
            if (stored_kind := snapshot.review.ops.get(op)) is not None:
                return _repeat_notice(
                    stored_kind
                )  # Slack did not get the answer to the first attempt
            if callback_id in FORM_CALLBACKS:
                return await self._submit_form(snapshot, view, meta, who, op)
            proposal = Proposal(kind, meta.target.revision, message, seal=meta.target.seal)
            return _reply_response(await self._inbox.decide(meta.target, proposal, who, op), view)
        except Refused as refused:
            return _reply_response(Reply(refused.code, str(refused)), view)
        except (InvalidToolCall, SchemaError) as error:
            return _reply_response(Reply("invalid_args", str(error)), view)

    async def _submit_form(
        self, snapshot: Snapshot, view: Body, meta: ModalMeta, who: Reviewer, op: str
    ) -> AckResponse:
        modal, review = await self._load_form(snapshot, view, meta, who), snapshot.review
        form_state = modal.form_state
        if not form_state.matches_view(view["state"]["values"]):
            # Sent before Slack showed the fields of a new choice.
            return await _page_response(review, modal, form_state.page, meta.has_draft)
        try:
            proposal = await offload_drawing(review, modal.proposal)
        except FormErrors as wrong:
            return await self._show_form_errors(review, view, who, modal, wrong)
        if not form_state.is_last_page:
            return await self._show_page(review, view, who, modal, form_state.page + 1)
        if asks_again := await offload_drawing(review, lambda: _confirmation_view(modal, proposal)):
            return _update_response(asks_again)
        return _reply_response(await self._inbox.decide(meta.target, proposal, who, op), view)

    async def _show_form_errors(
        self, review: Review, view: Body, who: Reviewer, modal: FormModal, form_errors: FormErrors
    ) -> AckResponse:
        """Errors beside the fields of this page. After the last page the first page with an
        error is shown.
        """
        form_state = modal.form_state
        page = form_state.page_with_error(form_errors)
        if page != form_state.page and not form_state.is_last_page:
            return await self._show_page(review, view, who, modal, form_state.page + 1)
        problem = f"Not sent yet: {form_state.error_text(form_errors)}"
        if page is not None and page != form_state.page:
            return await self._show_page(review, view, who, modal, page, problem)
        if errors := form_state.field_errors(form_errors):
            return _error_response(errors)
        return await _page_response(review, modal, form_state.page, modal.meta.has_draft, problem)

    async def _show_page(
        self,
        review: Review,
        view: Body,
        who: Reviewer,
        modal: FormModal,
        page: int,
        problem: str = "",
    ) -> AckResponse:
        await self._inbox.drafts.save(_draft_key(view, who), modal.answers)
        return await _page_response(review, modal, page, True, problem)

    async def _load_form(
        self, snapshot: Snapshot, view: Body, meta: ModalMeta, who: Reviewer
    ) -> FormModal:
        """The form with the view's inputs, and with the draft of its other pages."""
        kind = DECISIONS[str(view["callback_id"])]
        draft = await self._inbox.drafts.load(_draft_key(view, who)) if meta.has_draft else {}
        values = view["state"]["values"]
        return await offload_drawing(
            snapshot.review, lambda: build_form(snapshot, kind, meta, draft).with_state(values)
        )

    async def _show_next_action(self, view: Body, who: Reviewer) -> None:
        """After a modal that was opened from the Review modal, the Review modal shows the next pending
        action.
        """
        meta = ids.parse_meta(view)
        if meta.review_place is None or view.get("previous_view_id") is None:
            return
        review_meta = ModalMeta(
            meta.target, review_place=meta.review_place, review_page=meta.review_page
        )
        try:
            async with click_budget.timeout(REPLY_TIMEOUT):
                review_view = await self._views.review_page(review_meta, who, next_pending=True)
                await self._responder.update_modal(str(view["previous_view_id"]), review_view)
        except (Refused, TimeoutError) as error:
            log.info("the Review modal could not be updated: %s", error)


def _repeat_notice(kind: str) -> AckResponse:
    """The answer to a repeated submission: what the first attempt did."""
    text = f"Your first attempt was stored: {_DONE_TEXTS.get(kind, 'it counts')}. Nothing else was done now."
    return {"response_action": "update", "view": small_modals.notice(text, "Already stored")}


def _draft_key(view: Body, who: Reviewer) -> str:
    return f"form:{view['id']}:{who.key}"


def _first_input(view: Body) -> str:
    """The block for an error that belongs to no field; "" if the view has no input."""
    inputs = (block["block_id"] for block in view["blocks"] if block["type"] == "input")
    return str(next(inputs, ""))


def _reply_response(reply: Reply, view: Body) -> AckResponse:
    if reply.code == "ok":
        return {}
    first = _first_input(view)
    if reply.code in FIXABLE_CODES and first:
        return _error_response({first: reply.text})
    return {"response_action": "update", "view": small_modals.notice(reply.text)}


async def _page_response(
    review: Review, modal: FormModal, page: int, has_draft: bool, problem: str = ""
) -> AckResponse:
    return _update_response(
        await offload_drawing(
            review, lambda: modal.at_page(page, has_draft=has_draft).view(problem)
        )
    )


def _confirmation_view(modal: FormModal, proposal: Proposal) -> small_modals.View | None:
    """The form again with a warning, if the proposal removes something and that is not confirmed yet."""
    warning = modal.removal_warning(proposal)
    return modal.with_confirmation(proposal).view(warning) if warning else None


def _update_response(view: small_modals.View) -> AckResponse:
    return {"response_action": "update", "view": view}


def _error_response(errors: dict[str, str]) -> AckResponse:
    return {"response_action": "errors", "errors": errors}
