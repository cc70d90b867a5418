"""Handles submitted modals: passes them to the form service. A modal closes when its input was stored. Errors
that the person can fix are shown beside the fields, or at the top if they are about the whole form.

Every handler commits first and acknowledges last. Nothing after `ack` may raise: Bolt's default runner would
turn the acknowledgement into a 404.
"""

from __future__ import annotations

import logging
import re
from typing import Any, assert_never

from slack_bolt.async_app import AsyncAck

from hitl_core.errors import Refused
from hitl_core.model import Reviewer

from .... import click_budget, refusals
from ....forms import (
    FIELD_KINDS,
    FieldErrors,
    FormPage,
    FormRef,
    FormResult,
    FormService,
    Notice,
    Stored,
    to_result,
)
from ....inbox import PermittedSnapshot, Reply
from .. import ids
from ..ids import Body, ModalMeta, ReviewPage
from ..modals import ACTION_ID, BACK, View, form_view, notice, read_entries
from .responder import Responder
from .views import Views

log = logging.getLogger(__name__)

#: The answer to a submitted modal. An empty answer closes the modal.
AckResponse = dict[str, Any]


class Submissions:
    def __init__(self, form_service: FormService, views: Views, responder: Responder) -> None:
        self._form_service, self._views, self._responder = form_service, views, responder

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.view(re.compile(".*"))(self.submit)
        # A choice that changes the fields after it, and "Back".
        app.action({"action_id": ACTION_ID, "type": "block_actions"})(self.redraw)
        app.action(BACK)(self.redraw)

    async def submit(self, ack: AsyncAck, body: Body) -> None:
        view = body["view"]
        try:
            form, meta = _form_of(view)
        except Refused as refused:
            log.warning("a form that can't be read was submitted")  # its texts may be anything
            unreadable = Notice(str(refused), fixable=True)  # keeps the person's input
            await ack(**to_response(unreadable, view))
            return
        who = await self._responder.load_reviewer(body)
        op = ids.op_of_submission(view, who.id)
        try:
            async with click_budget.timeout("submit"):
                result = await self._form_service.submit(
                    form, str(view["id"]), read_entries(view), who, op
                )
        except TimeoutError:
            result = to_result(Reply("unavailable", refusals.RESULT_UNKNOWN))
        if isinstance(result, Stored):
            await self.show_next_action(view, meta, who, result.snapshot)
        await ack(**to_response(result, view, meta.review))

    async def redraw(self, ack: AsyncAck, body: Body) -> None:
        """Shows the form again: with the fields of the new choice, or the page before."""
        view = ids.view_of(body)
        if view.get("callback_id") not in FIELD_KINDS:
            await ack()  # the button is in no form of ours
            return
        who, (form, meta) = await self._responder.load_reviewer(body), _form_of(view)
        back = body["actions"][0]["action_id"] == BACK
        try:
            async with click_budget.timeout("page"):
                page = await self._form_service.redraw(
                    form, str(view["id"]), read_entries(view), who, back=back
                )
        except Refused as refused:
            await self._responder.show_refusal(body, refused)
        except TimeoutError:
            await self._responder.show_refusal(
                body, Refused("unavailable", refusals.STORE_UNAVAILABLE)
            )
        else:
            await self._responder.update_modal(str(view["id"]), form_view(page, meta.review))
        await ack()

    async def show_next_action(
        self, view: Body, meta: ModalMeta, who: Reviewer, seen: PermittedSnapshot | None
    ) -> None:
        """After a modal that was opened from the Review modal, the Review modal shows the next pending
        action.
        """
        review, views = meta.review, self._views
        if review is None or view.get("previous_view_id") is None:
            return
        try:
            async with click_budget.timeout("next"):
                page = await views.review_page(meta.target, review, who, seen, next_pending=True)
                await self._responder.show_page(str(view["previous_view_id"]), page)
        except (Refused, TimeoutError) as error:
            log.info("the Review modal could not be updated: %s", error)


def _form_of(view: Body) -> tuple[FormRef, ModalMeta]:
    """The form of a submitted modal. Raises Refused if there is none, or if it can't be read."""
    meta = ids.parse_meta(view)
    if not isinstance(meta.about, FormRef):
        raise Refused("unknown_action", refusals.UNREADABLE_MODAL)
    return meta.about, meta


def to_response(result: FormResult, view: Body, review: ReviewPage | None = None) -> AckResponse:
    """The answer to a submitted modal."""
    match result:
        case Stored() if view.get("previous_view_id") and review is None:
            return {
                "response_action": "clear"
            }  # the modals below can't be answered any more either
        case Stored():
            return {}
        case FormPage():
            return _update_response(form_view(result, review))
        case FieldErrors():
            return {"response_action": "errors", "errors": dict(result.errors)}
        case Notice():
            # A retry with an updated view would be another operation, because that view has another hash.
            first = _first_input(view)
            if result.fixable and first:
                return {"response_action": "errors", "errors": {first: result.text}}
            return _update_response(notice(result.text, result.title))
    assert_never(result)


def _update_response(view: View) -> AckResponse:
    return {"response_action": "update", "view": view}


def _first_input(view: Body) -> str:
    """The block for an error that belongs to no field; "" if the view has no input."""
    inputs = (block["block_id"] for block in view["blocks"] if block["type"] == "input")
    return str(next(inputs, ""))
