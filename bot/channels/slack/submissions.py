"""Submitted modals → the inbox. Closed when it counted, with errors beside the fields when it can be mended.

Every handler commits first and acknowledges last; nothing that can raise stands after an `ack` (with Bolt's
default runner such an error would turn the ack into a 404).
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal, cast

from slack_bolt.async_app import AsyncAck

from bot.channels.slack import ids, modals
from bot.channels.slack.asking_form import AnswerForm
from bot.channels.slack.editing import Editing
from bot.channels.slack.ids import Body, Meta
from bot.channels.slack.talk import Talk
from bot.channels.slack.views import Views
from bot.inbox import UNKNOWN, Inbox, Reply
from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.forms import FormErrors, SchemaError
from hitl_core.model import DecisionType, Reviewer
from hitl_core.model.call import is_text
from hitl_core.review.transitions import Proposal

#: Refusals that the person can mend in the modal; after others its place is taken by a notice.
MENDABLE = frozenset(
    {"unchanged", "invalid_args", "invalid_answer", "message_required", "unavailable", "busy"}
)
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
        for callback_id in (
            "edit",
            "reject",
            "respond",
            "answer_respond",
            "answer_approve",
            "escalate",
        ):
            app.view(callback_id)(self.submit)

    async def submit(self, ack: AsyncAck, body: Body) -> None:
        view = body["view"]
        who = await self._talk.who(body)
        try:
            async with asyncio.timeout(IN_TIME):
                answer = await self._submitted(view, ids.meta_of(view), who)
        except TimeoutError:
            answer = _told(Reply("unavailable", UNKNOWN), view)
        if not answer:
            await self._go_on(view, who)
        await ack(**answer)

    async def _submitted(self, view: Body, meta: Meta, who: Reviewer) -> Answer:
        op = ids.op_of_view(view, who.id)
        message = modals.message_of(view["state"]["values"])
        if message is not None and not is_text(message):
            return _errors({_first_input(view): HALF}, HALF)
        kind = str(view["callback_id"])
        try:
            match kind:
                case "edit":
                    return await self._edited(view, meta, who, op)
                case "answer_respond" | "answer_approve":
                    return await self._answered(view, meta, who, op)
                case "escalate":
                    assert meta.card is not None  # the button stood on it
                    reply = await self._inbox.escalate(
                        meta.target, meta.card.conversation, meta.card.ts, message, who, op
                    )
                case _:
                    decision = cast(DecisionType, kind)
                    proposal = Proposal(decision, meta.target.revision, message)
                    await self._inbox.may_decide(meta.target, decision, who, op)
                    reply = await self._inbox.decide(meta.target, proposal, who, op)
            return _told(reply, view)
        except Refused as refused:
            return _told(Reply(refused.code, str(refused)), view)
        except (InvalidToolCall, SchemaError) as error:
            return _told(Reply("invalid_args", str(error)), view)

    async def _edited(self, view: Body, meta: Meta, who: Reviewer, op: str) -> Answer:
        values = view["state"]["values"]
        before = await self._views.draft(view, who)
        drawn = await self._views.editing(meta, who, before, op)
        editing = drawn.with_state(values)
        if not editing.is_drawn_in(values):  # sent before what follows a choice was drawn again
            return _update(editing)
        try:
            args = editing.arguments()
        except FormErrors as wrong:
            return await self._mended(view, who, editing, wrong)
        if not editing.is_last:
            return await self._page(view, who, editing, editing.page + 1)
        name = editing.tool
        proposal = Proposal("edit", meta.target.revision, None, args, name)
        return _told(await self._inbox.decide(meta.target, proposal, who, op), view)

    async def _mended(
        self, view: Body, who: Reviewer, editing: Editing, wrong: FormErrors
    ) -> Answer:
        """Beside the fields of this page; what is wrong on another page is told there, at the end."""
        elsewhere = editing.page_of(wrong)
        if elsewhere is None:
            return _errors(editing.errors(wrong), str(wrong))
        if not editing.is_last:
            return await self._page(view, who, editing, editing.page + 1)
        await self._views.keep(view, who, editing.answers)
        there = editing.at(elsewhere)
        return _update(there, f"Not sent yet: {wrong}")

    async def _page(self, view: Body, who: Reviewer, editing: Editing, page: int) -> Answer:
        await self._views.keep(view, who, editing.answers)
        return _update(editing.at(page))

    async def _answered(self, view: Body, meta: Meta, who: Reviewer, op: str) -> Answer:
        approves = view["callback_id"] == "answer_approve"
        kind: Literal["approve", "respond"] = "approve" if approves else "respond"
        snapshot = await self._inbox.may_decide(meta.target, kind, who, op)
        action = snapshot.review.action(meta.target.action)
        assert action is not None  # may_decide looked
        form = AnswerForm(action, kind)
        try:
            given = form.read(view["state"]["values"])
        except FormErrors as wrong:
            return _errors(form.errors(wrong.fields, wrong.top), str(wrong))
        proposal = Proposal(kind, meta.target.revision, answer=given)
        return _told(await self._inbox.decide(meta.target, proposal, who, op), view)

    async def _go_on(self, view: Body, who: Reviewer) -> None:
        """Below a modal that was opened from the Review modal this one shows what waits next."""
        meta = ids.meta_of(view)
        if meta.under is None or view.get("previous_view_id") is None:
            return
        try:
            turn = Meta(meta.target, under=meta.under, turn=meta.turn)
            below = await self._views.turn(turn, who, on=True)
        except Refused:
            return
        await self._talk.update(str(view["previous_view_id"]), below)


def _first_input(view: Body) -> str:
    """The block beside which an error stands that belongs to no field; "" without any input."""
    inputs = (block["block_id"] for block in view["blocks"] if block["type"] == "input")
    return str(next(inputs, ""))


def _told(reply: Reply, view: Body) -> Answer:
    if reply.code == "ok":
        return {}
    first = _first_input(view)
    if reply.code in MENDABLE and first:
        return _errors({first: reply.text}, reply.text)
    return {"response_action": "update", "view": modals.notice(reply.text)}


def _update(editing: Editing, told: str = "") -> Answer:
    return {"response_action": "update", "view": editing.view(told)}


def _errors(errors: dict[str, str], otherwise: str) -> Answer:
    if not errors:  # Bolt refuses an empty mapping, and there would be no field to stand beside
        return {"response_action": "update", "view": modals.notice(otherwise)}
    return {"response_action": "errors", "errors": errors}
