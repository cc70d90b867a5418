"""Clicks and submissions → the inbox. Every handler commits first and acknowledges last; nothing that can
raise stands after an `ack` (with Bolt's default runner such an error would turn the ack into a 404).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncRespond

from bot.card import arguments_of
from bot.channel import ChannelError
from bot.channels.slack import fields, ids, modals, pages
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.ids import Body
from bot.channels.slack.rich import inert
from bot.inbox import UNKNOWN, Inbox, Reply, Target
from bot.text import one_line
from hitl_core.errors import InvalidToolCall, Refused, told
from hitl_core.forms import FormErrors, SchemaError, make_form
from hitl_core.forms import read_answers as read_form
from hitl_core.model import Arguments, DecisionType, Reviewer, Snapshot, encode
from hitl_core.model.call import is_text
from hitl_core.review.execution import DoubtAnswer
from hitl_core.review.transitions import Proposal

log = logging.getLogger(__name__)

#: Refusals that the person can mend in the modal; after others its place is taken by a notice.
MENDABLE = frozenset({"unchanged", "invalid_args", "message_required", "unavailable", "busy"})
#: A trigger_id lives for 3 s: when reading takes longer than this, a view is opened first.
QUICK = 0.5
#: Slack takes an answer within 3 s: what a submission may take of them, and telling somebody privately.
IN_TIME = 2.2
TOLD = 0.4

HALF = "This holds half a character, which can't be stored, maybe a broken emoji. Type it again."

DOUBTS: dict[str, DoubtAnswer] = {
    "doubt_ran": "ran",
    "doubt_rerun": "rerun",
    "doubt_skip": "skip",
}


class Listeners:
    """`register` ties each button and modal of this channel to one method."""

    def __init__(self, inbox: Inbox, channel: SlackChannel) -> None:
        self._inbox, self._channel = inbox, channel

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators carry no types."""
        app.action("approve")(self.approve)
        for action_id in ("edit", "reject", "see"):
            app.action(action_id)(self.open_form)
        app.action("more")(self.more)
        app.action("escalate")(self.escalate)
        app.action(re.compile("doubt_.*"))(self.doubt)
        app.action(re.compile("see_page:.*"))(self.turn)
        for callback_id in ("edit", "reject", "respond"):
            app.view(callback_id)(self.submit)
        app.error(self.failed)

    async def failed(self, error: Exception) -> None:
        """The person sees a failure; the log quotes no payload, as Bolt's own handler might."""
        log.error("what somebody did in Slack could not be handled: %s", told(error))

    async def approve(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        await self._decide(body, respond, "approve", ids.target(ids.value(body)))
        await ack()

    async def more(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """What stands under the dots: its value begins with the word for it."""
        verb, _, value = str(body["actions"][0]["selected_option"]["value"]).partition(".")
        target = ids.target(value)
        match verb:
            case "ignore":
                await self._decide(body, respond, "ignore", target)
            case "respond":
                await self._open(body, respond, "respond", target)
            case _:
                await self._open(body, respond, "see", target)
        await ack()

    async def open_form(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        await self._open(
            body, respond, str(body["actions"][0]["action_id"]), ids.target(ids.value(body))
        )
        await ack()

    async def escalate(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        who, target = await self._who(body), ids.target(ids.value(body))
        container, op = body["container"], ids.op_of_click(body)
        reply = await self._inbox.escalate(
            target, container["channel_id"], container["message_ts"], who, op
        )
        await self._tell(body, respond, reply)
        await ack()

    async def doubt(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        who, target = await self._who(body), ids.target(ids.value(body))
        answer = DOUBTS[str(body["actions"][0]["action_id"])]
        await self._tell(
            body, respond, await self._inbox.resolve(target, answer, who, ids.op_of_click(body))
        )
        await ack()

    async def turn(self, ack: AsyncAck, body: Body) -> None:
        """Another page of "See all of it"."""
        value, _, page = ids.value(body).rpartition(".")
        target = ids.target(value)
        try:
            snapshot = await self._inbox.may_see(target, await self._who(body))
            view = _see(target, snapshot, int(page))
        except Refused as refused:
            view = modals.notice(str(refused))
        try:
            await self._channel.update_view(body["view"]["id"], view)
        except ChannelError as error:
            log.warning("a page could not be turned: %s", error)
        await ack()

    async def submit(self, ack: AsyncAck, body: Body) -> None:
        """A modal: closed when it counted, with errors beside the fields when it can be mended."""
        view = body["view"]
        target = ids.target_of_view(view)
        who = await self._who(body)
        try:
            async with asyncio.timeout(IN_TIME):
                answer = await self._submitted(target, view, who)
        except TimeoutError:
            answer = _answer(Reply("unavailable", UNKNOWN), _first_input(view))
        await ack(**answer)

    async def _submitted(self, target: Target, view: Body, who: Reviewer) -> dict[str, Any]:
        values: Body = view["state"]["values"]
        kind: DecisionType = view["callback_id"]
        first = _first_input(view)
        op = ids.op_of_view(view, who.id)
        message = modals.message_of(values)
        if message is not None and not is_text(message):
            return _errors({first: HALF}, HALF)
        args: Arguments | None = None
        try:
            snapshot = await self._inbox.may_decide(target, who, op)
            if kind == "edit":
                schema, current = _schema_and_args(target, snapshot)
                form = fields.shown_form(make_form(schema, current))
                try:
                    answers = fields.read_answers(form, target.revision, values)
                    args = encode(read_form(schema, current, answers))
                except FormErrors as wrong:
                    return _errors(
                        fields.errors_by_block(
                            form, target.revision, wrong.fields, list(wrong.top)
                        ),
                        str(wrong),
                    )
        except Refused as refused:
            return _answer(Reply(refused.code, str(refused)), first)
        except (InvalidToolCall, SchemaError) as error:
            return _answer(Reply("invalid_args", str(error)), first)
        proposal = Proposal(kind, target.revision, message, args)
        return _answer(await self._inbox.decide(target, proposal, who, op), first)

    async def _decide(
        self, body: Body, respond: AsyncRespond, kind: DecisionType, target: Target
    ) -> None:
        who = await self._who(body)
        proposal = Proposal(kind, target.revision)
        reply = await self._inbox.decide(target, proposal, who, ids.op_of_click(body))
        await self._tell(body, respond, reply)

    async def _open(self, body: Body, respond: AsyncRespond, kind: str, target: Target) -> None:
        """Open a modal within the trigger's 3 s, with a loading view where the store is slow."""
        drawing = asyncio.create_task(self._view(kind, target, body))
        done, _ = await asyncio.wait([drawing], timeout=QUICK)
        trigger = str(body["trigger_id"])
        try:
            if done:
                await self._channel.open_view(trigger, drawing.result())
                return
            view_id = await self._channel.open_view(trigger, modals.loading(target))
            try:
                view = await drawing
            except Refused as refused:
                view = modals.notice(str(refused))
            await self._channel.update_view(view_id, view)
        except Refused as refused:
            await self._tell(body, respond, Reply(refused.code, str(refused)))
        except ChannelError as error:
            log.error("review %s: no modal: %s", target.review_id, error)
            why = "Slack didn't open the form. Press again."
            await self._tell(body, respond, Reply("unavailable", why))

    async def _view(self, kind: str, target: Target, body: Body) -> modals.View:
        who = await self._who(body)
        if kind == "see":
            return _see(target, await self._inbox.may_see(target, who), 0)
        snapshot = await self._inbox.may_decide(target, who)
        action = snapshot.review.action(target.action)
        assert action is not None  # may_decide looked
        name = action.request.name
        match kind:
            case "edit":
                try:
                    form = make_form(*_schema_and_args(target, snapshot))
                except SchemaError as error:
                    why = f"No form can be made of it: {error}."
                    raise Refused("no_form", why) from error
                return modals.edit(target, name, fields.shown_form(form))
            case "reject":
                required = action.config.reject_reason == "required"
                return modals.reason(target, name, required=required)
            case _:
                return modals.answer(target, name)

    async def _who(self, body: Body) -> Reviewer:
        return await self._channel.reviewer(body["user"])

    async def _tell(self, body: Body, respond: AsyncRespond, reply: Reply) -> None:
        """Privately. The click's own response_url reaches people who are not in the channel as well."""
        if not reply.text:
            return
        try:
            async with asyncio.timeout(TOLD):
                answer = await respond(
                    text=inert(one_line(reply.text)),
                    response_type="ephemeral",
                    replace_original=False,
                )
            if answer.status_code == 200:
                return
        except Exception as error:  # Bolt's webhook client raises whatever its HTTP library does
            log.info("response_url failed: %s", error)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TOLD):
                await self._channel.whisper(body["channel"]["id"], body["user"]["id"], reply.text)


def _first_input(view: Body) -> str:
    """The block beside which an error stands that belongs to no field; "" without any input."""
    inputs = (block["block_id"] for block in view["blocks"] if block["type"] == "input")
    return str(next(inputs, ""))


def _see(target: Target, snapshot: Snapshot, page: int) -> modals.View:
    call = snapshot.review.call(target.action)
    if call is None:
        raise Refused("unknown_action", "This review has no such action.")
    schema, args = _schema_and_args(target, snapshot)
    return pages.see(target, call.name, arguments_of(args, schema), page)


def _schema_and_args(target: Target, snapshot: Snapshot) -> tuple[Body | None, Body]:
    review = snapshot.review
    action = review.action(target.action)
    return action.config.args_schema if action else None, review.arguments(target.action).parse()


def _answer(reply: Reply, first: str) -> dict[str, Any]:
    """What `ack` says to a modal: nothing closes it."""
    if reply.code == "ok":
        return {}
    if reply.code in MENDABLE and first:
        return _errors({first: reply.text}, reply.text)
    return {"response_action": "update", "view": modals.notice(reply.text)}


def _errors(errors: dict[str, str], otherwise: str) -> dict[str, Any]:
    if not errors:  # Bolt refuses an empty mapping, and there would be no field to stand beside
        return {"response_action": "update", "view": modals.notice(otherwise)}
    return {"response_action": "errors", "errors": errors}
