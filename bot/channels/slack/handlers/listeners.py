"""Buttons → the inbox, or a modal.

Every handler commits first and acknowledges last. Nothing after `ack` may raise: Bolt's default runner would
turn the acknowledgement into a 404.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, cast

from slack_bolt.async_app import AsyncAck, AsyncRespond

from hitl_core.errors import Refused, safe_message
from hitl_core.model import DecisionType, DoubtAnswer, Snapshot
from hitl_core.review import AnswerDoubt, Decide, DecideAll, Proposal

from .... import click_budget
from ....forms import FormDesk
from ....inbox import ActionRef, Choose, Inbox, InboxCommand, PermittedSnapshot, ReadRequired, Reply
from ....offload import offload_drawing
from ...contract import ChannelError
from .. import ids
from ..channel import SlackChannel
from ..form_limits import FORM_LIMITS
from ..ids import Body, ModalMeta
from ..modals import arguments_modal, small_modals
from .home import HomeTab
from .responder import Responder
from .submissions import Submissions
from .views import ModalKind, Views, name_and_arguments

log = logging.getLogger(__name__)

DOUBT_ANSWERS: dict[str, DoubtAnswer] = {
    "doubt_ran": "ran",
    "doubt_rerun": "rerun",
    "doubt_skip": "skip",
}


class Listeners:
    """`register` connects each button and modal to one method."""

    def __init__(self, inbox: Inbox, channel: SlackChannel, home: HomeTab) -> None:
        self._inbox, self._channel = inbox, channel
        self._responder = Responder(inbox, channel, home)
        desk = FormDesk(inbox, FORM_LIMITS, channel.name_of)
        self._views = Views(inbox.access, desk, channel)
        self._submissions = Submissions(desk, self._views, self._responder)

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.action("approve")(self.approve)
        app.action("approve_all")(self.approve_all)
        app.action(re.compile("answer:.*"))(self.answer)
        for action_id in ("edit", "reject", "respond", "see"):
            app.action(action_id)(self.open_form)
        app.action("more")(self.choose_from_menu)
        app.action("review")(self.open_review)
        app.action(re.compile("turn:.*"))(self.show_review_page)
        app.action("escalate")(self.open_escalation)
        for action_id in DOUBT_ANSWERS:
            app.action(action_id)(self.answer_doubt)
        app.action(re.compile("see_page:.*"))(self.show_arguments_page)
        app.action("file")(self.post_file)
        self._submissions.register(app)
        app.error(self.log_error)

    async def log_error(self, error: Exception) -> None:
        """Logs the error without the payload, which Bolt's own handler might log. The person
        sees a failure.
        """
        log.error("an action in Slack could not be handled: %s", safe_message(error))

    async def approve(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        await self._decide(body, respond, "approve", ids.button_value(body))
        await ack()

    async def approve_all(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        review_id, revisions, seal = ids.parse_revisions(ids.button_value(body))
        proposals = {key: Proposal("approve", revision) for key, revision in revisions.items()}
        who, op = await self._responder.load_reviewer(body), ids.op_of_click(body)
        command = DecideAll(review_id, proposals, who, op, seal, ids.message_of(body))
        await self._apply(body, respond, command)
        await ack()

    async def answer(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """One of the choices of a question."""
        value = ids.button_value(body)
        target, number = ids.parse_action_ref(value), ids.parse_last_number(value)
        who, op = await self._responder.load_reviewer(body), ids.op_of_click(body)
        await self._apply(body, respond, Choose(target, number, who, op, ids.message_of(body)))
        await ack()

    async def choose_from_menu(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """A rare answer from the overflow menu; its value begins with the verb."""
        verb, _, value = ids.option_value(body).partition(".")
        if verb == "ignore":
            await self._decide(body, respond, "ignore", value)
        else:
            await self._open_modal(body, respond, "respond", ids.parse_action_ref(value))
        await ack()

    async def open_form(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        kind = cast(ModalKind, body["actions"][0]["action_id"])
        await self._open_modal(body, respond, kind, ids.parse_action_ref(ids.button_value(body)))
        await ack()

    async def open_review(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """The modal that shows the actions of this card page by page."""
        value = ids.button_value(body)
        target, card = ids.parse_action_ref(value), ids.message_of(body)
        who = await self._responder.load_reviewer(body)

        async def build_view() -> small_modals.View:
            seen, place = await self._inbox.access.find_place(target.review_id, card, who)
            meta = ModalMeta(target, review_place=place, review_page=ids.parse_last_number(value))
            return await self._views.review_page(meta, who, seen)

        await self._responder.open_modal(body, respond, ModalMeta(target), build_view())
        await ack()

    async def show_review_page(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """Another page of the Review modal."""
        value, review_meta = ids.button_value(body), ids.parse_meta(body["view"])
        meta = ModalMeta(
            review_meta.target,
            review_place=review_meta.review_place,
            review_page=ids.parse_last_number(value),
        )
        who = await self._responder.load_reviewer(body)
        await self._refresh_modal(body, self._views.review_page(meta, who))
        await ack()

    async def open_escalation(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        meta = ModalMeta(ids.parse_action_ref(ids.button_value(body)), card=ids.message_of(body))
        if meta.card is None:
            why = "Press the button on the card in its channel, so that it is known from where to escalate."
            await self._responder.send_reply(body, respond, Reply("gone", why))
        else:
            who = await self._responder.load_reviewer(body)
            pending_view = self._views.build("escalate", meta, who)
            await self._responder.open_modal(body, respond, meta, pending_view)
        await ack()

    async def answer_doubt(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        target = ids.parse_action_ref(ids.button_value(body))
        answer = DOUBT_ANSWERS[str(body["actions"][0]["action_id"])]
        who, op = await self._responder.load_reviewer(body), ids.op_of_click(body)
        command = AnswerDoubt(
            target.review_id, target.action, answer, who, op,
            target.revision, target.seal, ids.message_of(body),
        )  # fmt: skip
        await self._apply(body, respond, command)
        await ack()

    async def show_arguments_page(self, ack: AsyncAck, body: Body) -> None:
        """Another page of "See all of it"."""
        value = ids.button_value(body)
        meta = ModalMeta(ids.parse_action_ref(value), ids.parse_last_number(value))
        who = await self._responder.load_reviewer(body)
        await self._refresh_modal(body, self._views.arguments_page(meta, who))
        await ack()

    async def post_file(self, ack: AsyncAck, body: Body) -> None:
        """Posts all arguments as a file in the card's thread, for what is too long for a modal."""
        target = ids.parse_action_ref(ids.button_value(body))
        try:
            snapshot = await self._inbox.access.load_for_view(
                target, await self._responder.load_reviewer(body)
            )
            name, text = await offload_drawing(
                snapshot.review, lambda: _file_content(target, snapshot)
            )
            action = snapshot.review.action(target.action)
            places = action.places if action else snapshot.review.places
            place = next((one for one in snapshot.posts if one.base in places), None)
            if place is None:
                raise Refused("gone", "No card is shown yet. Press again in a moment.")
            ref = snapshot.posts[place]
            await self._channel.upload(place, ref, f"{name}.txt", text)
            where = self._channel.name_of(place)
            view = small_modals.notice(f"The file is below the card in {where}.", "Posted")
        except Refused as refused:
            view = small_modals.notice(str(refused))
        except ChannelError as error:
            log.warning("review %s: the file could not be posted: %s", target.review_id, error)
            view = small_modals.notice("Slack refused the file. Press again in a moment.")
        await self._responder.push_modal(body, view)
        await ack()

    async def _decide(
        self, body: Body, respond: AsyncRespond, kind: DecisionType, value: str
    ) -> None:
        target = ids.parse_action_ref(value)
        proposal = Proposal(kind, target.revision, seal=target.seal)
        who, op = await self._responder.load_reviewer(body), ids.op_of_click(body)
        command = Decide(target.review_id, target.action, proposal, who, op, ids.message_of(body))
        await self._apply(body, respond, command)

    async def _apply(self, body: Body, respond: AsyncRespond, command: InboxCommand) -> None:
        """Applies the command, and shows the result where the card alone does not."""
        reply, view = await self._inbox.apply(command), ids.view_of(body)
        if reply.unread is not None:
            await self._open_modal(body, respond, "see", reply.unread, reply.snapshot)
        elif reply.code == "message_required" and (target := _approved(command)) is not None:
            await self._open_modal(body, respond, "approve", target, reply.snapshot)
        elif reply.code == "ok" and view.get("callback_id") == "review":
            meta = ids.parse_meta(view)
            page = self._views.review_page(meta, command.who, reply.snapshot, next_pending=True)
            await self._refresh_modal(body, page)
        else:
            await self._responder.send_reply(body, respond, reply)
        await self._responder.refresh_home(body, reply.snapshot)

    async def _refresh_modal(
        self, body: Body, pending_view: Coroutine[Any, Any, small_modals.View]
    ) -> None:
        """Updates the modal with the button. Never raises: the click is stored already."""
        try:
            async with click_budget.timeout("show"):
                view = await pending_view
                await self._responder.update_modal(str(body["view"]["id"]), view)
        except TimeoutError:
            log.warning("a modal could not be updated in time")
        except Refused as refused:
            await self._responder.show_refusal(body, refused)

    async def _open_modal(
        self,
        body: Body,
        respond: AsyncRespond,
        kind: ModalKind,
        target: ActionRef,
        seen: PermittedSnapshot | None = None,
    ) -> None:
        """Opens the modal; first "All arguments" if the policy requires that the person reads them."""
        view = ids.view_of(body)
        review_meta = ids.parse_meta(view) if view.get("callback_id") == "review" else None
        meta = (
            ModalMeta(
                target, review_place=review_meta.review_place, review_page=review_meta.review_page
            )
            if review_meta
            else ModalMeta(target)
        )
        who = await self._responder.load_reviewer(body)

        async def build_view() -> small_modals.View:
            try:
                return await self._views.build(kind, meta, who, seen)
            except ReadRequired as unread:
                return await self._views.build("see", replace(meta, target=unread.target), who)

        await self._responder.open_modal(body, respond, meta, build_view())


def _file_content(target: ActionRef, snapshot: Snapshot) -> tuple[str, str]:
    name, arguments = name_and_arguments(target, snapshot)
    return name, arguments_modal.to_text(arguments)


def _approved(command: InboxCommand) -> ActionRef | None:
    """The action that the person pressed Approve on; None for other commands."""
    if not isinstance(command, Decide) or command.proposal.type != "approve":
        return None
    proposal = command.proposal
    return ActionRef(command.review_id, command.action, proposal.revision, proposal.seal)
