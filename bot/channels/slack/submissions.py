"""Modals that people fill in → the inbox. Closed when it counted, with errors beside the fields when it can
be mended.

Every handler commits first and acknowledges last; nothing that can raise stands after an `ack` (with Bolt's
default runner such an error would turn the ack into a 404).
"""

from __future__ import annotations

import logging
from typing import Any

from slack_bolt.async_app import AsyncAck

from bot import budget
from bot.apart import apart
from bot.channels.slack import ids, modals
from bot.channels.slack.form_modal import BACK, FormModal
from bot.channels.slack.ids import Body, Meta
from bot.channels.slack.inputs import ACTION_ID
from bot.channels.slack.talk import TOLD, Talk
from bot.channels.slack.views import Views, form
from bot.click import UNKNOWN, Reply
from bot.inbox import Inbox
from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.forms import FormErrors, SchemaError
from hitl_core.model import DecisionType, Reviewer, Snapshot
from hitl_core.model.call import is_text
from hitl_core.review.transitions import Proposal

log = logging.getLogger(__name__)

#: What a modal decides, by its callback_id; FORMS are those with a form of a schema.
DECIDES: dict[str, DecisionType] = {
    "edit": "edit",
    "reject": "reject",
    "respond": "respond",
    "answer_respond": "respond",
    "answer_approve": "approve",
}
FORMS = {"edit", "answer_respond", "answer_approve"}
#: Refusals that the person can mend in the modal; after others its place is taken by a notice.
MENDABLE = frozenset(
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
#: What a submission did, by the kind of its event.
_DONE = {
    "decided": "it is the decision",
    "edited": "your edit stands, and is to be approved",
    "voted": "your vote counts",
}
#: Slack takes an answer within 3 s.
IN_TIME = 2.2
HALF = "This holds half a character, which can't be stored, maybe a broken emoji. Type it again."

#: What `ack` says to a modal: nothing closes it.
Answer = dict[str, Any]


class Submissions:
    def __init__(self, inbox: Inbox, views: Views, talk: Talk) -> None:
        self._inbox, self._views, self._talk = inbox, views, talk

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators carry no types."""
        for callback_id in (*DECIDES, "escalate"):
            app.view(callback_id)(self.submit)
        # A choice that decides what follows, and the page before.
        app.action({"action_id": ACTION_ID, "type": "block_actions"})(self.redraw)
        app.action(BACK)(self.redraw)

    async def submit(self, ack: AsyncAck, body: Body) -> None:
        view = body["view"]
        who = await self._talk.who(body)
        try:
            async with budget.within(IN_TIME):
                answer = await self._submitted(view, ids.meta_of(view), who)
        except TimeoutError:
            answer = _told(Reply("unavailable", UNKNOWN), view)
        if not answer:
            await self._go_on(view, who)
        await ack(**answer)

    async def redraw(self, ack: AsyncAck, body: Body) -> None:
        """The form again, with what was chosen or at the page before."""
        view = ids.view_of(body)
        if view.get("callback_id") not in FORMS:
            await ack()  # no form of ours has such a button
            return
        who, meta = await self._talk.who(body), ids.meta_of(view)
        back = body["actions"][0]["action_id"] == BACK
        try:
            kind = DECIDES[str(view["callback_id"])]
            snapshot = await self._inbox.access.may_decide(meta.target, kind, who)
            filled = await self._filled(snapshot, view, meta, who)
            if back or meta.kept:  # what another choice had asked for must not come back from there
                await self._inbox.drafts.save(_draft(view, who), filled.answers)
            page = filled.filling.page - back
            shown = filled.at(page, kept=back or meta.kept).view()
        except Refused as refused:
            await self._talk.interrupt(body, refused)
        else:
            await self._talk.update(str(view["id"]), shown)
        await ack()

    async def _submitted(self, view: Body, meta: Meta, who: Reviewer) -> Answer:
        op = ids.op_of_view(view, who.id)
        callback_id = str(view["callback_id"])
        message = modals.message_of(view["state"]["values"])
        if message is not None and not is_text(message):
            return _errors({_first_input(view): HALF})
        try:
            if callback_id == "escalate":
                assert meta.card is not None  # the button stood on it
                reply = await self._inbox.escalate(meta.target, meta.card, message, who, op)
                return _told(reply, view)
            kind = DECIDES[callback_id]
            snapshot = await self._inbox.access.may_decide(meta.target, kind, who, op)
            if (kind_of := snapshot.review.ops.get(op)) is not None:
                return _repeated(kind_of)  # the answer to the first time was lost
            if callback_id in FORMS:
                return await self._sent(snapshot, view, meta, who, op)
            proposal = Proposal(kind, meta.target.revision, message, seal=meta.target.seal)
            return _told(await self._inbox.decide(meta.target, proposal, who, op), view)
        except Refused as refused:
            return _told(Reply(refused.code, str(refused)), view)
        except (InvalidToolCall, SchemaError) as error:
            return _told(Reply("invalid_args", str(error)), view)

    async def _sent(
        self, snapshot: Snapshot, view: Body, meta: Meta, who: Reviewer, op: str
    ) -> Answer:
        filled = await self._filled(snapshot, view, meta, who)
        filling = filled.filling
        if not filling.is_drawn_in(view["state"]["values"]):
            # Sent before what follows a choice was drawn.
            return _update(filled.at(filling.page, kept=meta.kept))
        try:
            proposal = await apart(snapshot.review, filled.proposal)
        except FormErrors as wrong:
            return await self._mended(view, who, filled, wrong)
        if not filling.is_last:
            return await self._page(view, who, filled, filling.page + 1)
        if gone := filled.takes_away(proposal):
            return _update(filled.asking(proposal), gone)
        return _told(await self._inbox.decide(meta.target, proposal, who, op), view)

    async def _mended(
        self, view: Body, who: Reviewer, filled: FormModal, wrong: FormErrors
    ) -> Answer:
        """Beside the fields of this page; what is wrong on another page is told there, at the end."""
        filling = filled.filling
        page = filling.page_of(wrong)
        if page != filling.page and not filling.is_last:
            return await self._page(view, who, filled, filling.page + 1)
        told = f"Not sent yet: {filling.told(wrong)}"
        if page is not None and page != filling.page:
            return await self._page(view, who, filled, page, told)
        if errors := filling.errors(wrong):
            return _errors(errors)
        return _update(filled.at(filling.page, kept=filled.meta.kept), told)

    async def _page(
        self, view: Body, who: Reviewer, filled: FormModal, page: int, told: str = ""
    ) -> Answer:
        await self._inbox.drafts.save(_draft(view, who), filled.answers)
        return _update(filled.at(page, kept=True), told)

    async def _filled(self, snapshot: Snapshot, view: Body, meta: Meta, who: Reviewer) -> FormModal:
        """The form with what its inputs hold, and what was entered on its other pages."""
        kind = DECIDES[str(view["callback_id"])]
        before = await self._inbox.drafts.load(_draft(view, who)) if meta.kept else {}
        values = view["state"]["values"]
        return await apart(
            snapshot.review, lambda: form(snapshot, kind, meta, before).with_state(values)
        )

    async def _go_on(self, view: Body, who: Reviewer) -> None:
        """Below a modal that was opened from the Review modal this one shows what waits next."""
        meta = ids.meta_of(view)
        if meta.under is None or view.get("previous_view_id") is None:
            return
        turn = Meta(meta.target, under=meta.under, turn=meta.turn)
        try:
            async with budget.within(TOLD):
                below = await self._views.turn(turn, who, on=True)
                await self._talk.update(str(view["previous_view_id"]), below)
        except (Refused, TimeoutError) as error:
            log.info("the modal below could not be drawn again: %s", error)


def _repeated(kind: str) -> Answer:
    """What the first try of the same submission did."""
    told = f"Your first try was stored: {_DONE.get(kind, 'it counts')}. Nothing more was done now."
    return {"response_action": "update", "view": modals.notice(told, "Stored already")}


def _draft(view: Body, who: Reviewer) -> str:
    return f"form:{view['id']}:{who.key}"


def _first_input(view: Body) -> str:
    """The block beside which an error stands that belongs to no field; "" without any input."""
    inputs = (block["block_id"] for block in view["blocks"] if block["type"] == "input")
    return str(next(inputs, ""))


def _told(reply: Reply, view: Body) -> Answer:
    if reply.code == "ok":
        return {}
    first = _first_input(view)
    if reply.code in MENDABLE and first:
        return _errors({first: reply.text})
    return {"response_action": "update", "view": modals.notice(reply.text)}


def _update(filled: FormModal, told: str = "") -> Answer:
    return {"response_action": "update", "view": filled.view(told)}


def _errors(errors: dict[str, str]) -> Answer:
    return {"response_action": "errors", "errors": errors}
