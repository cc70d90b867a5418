"""Handles buttons that decide: a press becomes a command for the inbox, and the reply is shown.

Every handler commits first and acknowledges last. Nothing after `ack` may raise: Bolt's default runner would
turn the acknowledgement into a 404.
"""

from __future__ import annotations

import re
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncRespond

from ....forms import FormRef, FormService
from ....inbox import STALE_CODES, Inbox, InboxCommand, Press
from .. import ids
from ..channel import SlackChannel
from ..ids import Body
from ..modals import MODAL_LIMITS
from .button_check import ButtonCheck
from .failures import Failures
from .home import HomeTab
from .modal_buttons import ModalButtons
from .responder import Responder
from .submissions import Submissions
from .views import Views


class Listeners:
    """`register` connects each button and modal to one method."""

    def __init__(self, inbox: Inbox, channel: SlackChannel, home: HomeTab) -> None:
        self._inbox = inbox
        self._responder = Responder(inbox, channel, home)
        self._check = ButtonCheck(self._responder)
        form_service = FormService(inbox, MODAL_LIMITS, channel.name_of)
        self._views = Views(inbox.reader, form_service, channel)
        self._modals = ModalButtons(inbox, channel, self._views, self._responder)
        self._submissions = Submissions(form_service, self._views, self._responder)
        self._failures = Failures(self._responder, home)

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.use(self._check)
        for action_id in ("approve", "approve_all", "more"):
            app.action(action_id)(self.press)
        app.action(re.compile("(answer:|doubt_).*"))(self.press)
        self._modals.register(app)
        self._submissions.register(app)
        self._failures.register(app)

    async def press(self, ack: AsyncAck, body: Body, respond: AsyncRespond, press: Press) -> None:
        """A button that decides, or an option of a menu, which may also open a form."""
        op, card = ids.op_of_click(body), ids.message_of(body)
        who = await self._responder.load_reviewer(body)
        if (command := press.command(who, op, card)) is not None:
            await self._apply(body, respond, press, command)
        else:
            await self._modals.open_card_modal(body, respond, press)
        await ack()

    async def _apply(
        self, body: Body, respond: AsyncRespond, press: Press, command: InboxCommand
    ) -> None:
        """Applies the command, and shows the result if the card alone does not show it."""
        reply, view = await self._inbox.apply(command), ids.view_of(body)
        if reply.unread is not None:
            target, why = reply.unread
            await self._modals.open_modal(body, respond, target, reply.snapshot, why)
        elif reply.unanswered is not None:
            form = FormRef("approve", reply.unanswered, card=command.message_ref)
            await self._modals.open_modal(body, respond, form, reply.snapshot)
        elif reply.code == "ok" and view.get("callback_id") == "review":
            await self._modals.show_next_action(body, command.who, reply.snapshot)
        elif reply.code == "ok" and view.get("callback_id") == "see":
            meta = ids.parse_meta(view)
            await self._submissions.show_next_action(view, meta, command.who, reply.snapshot)
            await self._modals.show_approved(body, press, command.who, reply.snapshot)
        else:
            await self._responder.send_reply(body, respond, reply)
            if ids.is_private(body) and (reply.code == "ok" or reply.code in STALE_CODES):
                await self._responder.redraw_private_card(respond, command.review_id, command.who)
        await self._responder.refresh_home(body, reply.snapshot)
