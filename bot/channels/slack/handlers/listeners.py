"""Buttons that decide → a command → the inbox → the result.

Every handler commits first and acknowledges last. Nothing after `ack` may raise: Bolt's default runner would
turn the acknowledgement into a 404.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncRespond

from hitl_core.errors import safe_message
from hitl_core.model import DecisionType, DoubtAnswer
from hitl_core.review import AnswerDoubt, Decide, DecideAll, Proposal

from .... import click_budget
from ....forms import FormDesk
from ....inbox import ActionRef, Choose, Inbox, InboxCommand
from .. import ids
from ..channel import SlackChannel
from ..ids import Body
from ..modals import MODAL_LIMITS
from ..render import buttons
from .home import HomeTab
from .modal_buttons import ModalButtons
from .responder import Responder, Views
from .submissions import Submissions

log = logging.getLogger(__name__)

DOUBT_ANSWERS: dict[str, DoubtAnswer] = {
    "doubt_ran": "ran",
    "doubt_rerun": "rerun",
    "doubt_skip": "skip",
}


class Listeners:
    """`register` connects each button and modal to one method."""

    def __init__(self, inbox: Inbox, channel: SlackChannel, home: HomeTab) -> None:
        self._inbox = inbox
        self._responder = Responder(inbox, channel, home)
        desk = FormDesk(inbox, MODAL_LIMITS, channel.name_of)
        self._views = Views(inbox.access, desk, channel)
        self._modals = ModalButtons(inbox, channel, self._views, self._responder)
        self._submissions = Submissions(desk, self._views, self._responder)

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.use(self.start_click)
        app.action("approve")(self.approve)
        app.action("approve_all")(self.approve_all)
        app.action(re.compile("answer:.*"))(self.answer)
        app.action("more")(self.choose_from_menu)
        for action_id in DOUBT_ANSWERS:
            app.action(action_id)(self.answer_doubt)
        self._modals.register(app)
        self._submissions.register(app)
        app.error(self.log_error)

    async def log_error(self, error: Exception) -> None:
        """Logs the error without the payload, which Bolt's own handler might log. The person
        sees a failure.
        """
        log.error("an action in Slack could not be handled: %s", safe_message(error))

    async def start_click(self, next: Callable[[], Awaitable[object]]) -> None:
        """The middleware of all requests; Bolt passes arguments by their names."""
        click_budget.start()
        await next()

    async def approve(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        await self._decide(body, respond, "approve", buttons.button_value(body))
        await ack()

    async def approve_all(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        review_id, revisions, seal = buttons.parse_revisions(buttons.button_value(body))
        proposals = {key: Proposal("approve", revision) for key, revision in revisions.items()}
        who, op = await self._responder.load_reviewer(body), ids.op_of_click(body)
        command = DecideAll(review_id, proposals, who, op, seal, ids.message_of(body))
        await self._apply(body, respond, command)
        await ack()

    async def answer(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """One of the choices of a question."""
        value = buttons.button_value(body)
        target, number = buttons.parse_action_ref(value), buttons.parse_last_number(value)
        who, op = await self._responder.load_reviewer(body), ids.op_of_click(body)
        await self._apply(body, respond, Choose(target, number, who, op, ids.message_of(body)))
        await ack()

    async def choose_from_menu(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """A rare answer from the overflow menu; its value begins with the verb."""
        verb, _, value = buttons.option_value(body).partition(".")
        if verb == "ignore":
            await self._decide(body, respond, "ignore", value)
        else:
            await self._modals.open_modal(body, respond, "respond", buttons.parse_action_ref(value))
        await ack()

    async def answer_doubt(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        target = buttons.parse_action_ref(buttons.button_value(body))
        answer = DOUBT_ANSWERS[str(body["actions"][0]["action_id"])]
        who, op = await self._responder.load_reviewer(body), ids.op_of_click(body)
        command = AnswerDoubt(
            target.review_id, target.action, answer, who, op,
            target.revision, target.seal, ids.message_of(body),
        )  # fmt: skip
        await self._apply(body, respond, command)
        await ack()

    async def _decide(
        self, body: Body, respond: AsyncRespond, kind: DecisionType, value: str
    ) -> None:
        target = buttons.parse_action_ref(value)
        proposal = Proposal(kind, target.revision, seal=target.seal)
        who, op = await self._responder.load_reviewer(body), ids.op_of_click(body)
        command = Decide(target.review_id, target.action, proposal, who, op, ids.message_of(body))
        await self._apply(body, respond, command)

    async def _apply(self, body: Body, respond: AsyncRespond, command: InboxCommand) -> None:
        """Applies the command, and shows the result where the card alone does not."""
        reply, view = await self._inbox.apply(command), ids.view_of(body)
        if reply.unread is not None:
            await self._modals.open_modal(body, respond, "see", reply.unread, reply.snapshot)
        elif reply.code == "message_required" and (target := _approved(command)) is not None:
            await self._modals.open_modal(body, respond, "approve", target, reply.snapshot)
        elif reply.code == "ok" and view.get("callback_id") == "review":
            meta = ids.parse_meta(view)
            page = self._views.review_page(meta, command.who, reply.snapshot, next_pending=True)
            await self._modals.refresh_modal(body, page, "show")
        else:
            await self._responder.send_reply(body, respond, reply)
        await self._responder.refresh_home(body, reply.snapshot)


def _approved(command: InboxCommand) -> ActionRef | None:
    """The action that the person pressed Approve on; None for other commands."""
    if not isinstance(command, Decide) or command.proposal.type != "approve":
        return None
    proposal = command.proposal
    return ActionRef(command.review_id, command.action, proposal.revision, proposal.seal)
