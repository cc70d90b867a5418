"""Buttons → the inbox, or a modal. Every handler commits first and acknowledges last; nothing that can raise
stands after an `ack` (with Bolt's default runner such an error would turn the ack into a 404).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, cast

from slack_bolt.async_app import AsyncAck, AsyncRespond

from bot import budget
from bot.apart import apart
from bot.card import choices_of
from bot.channel import ChannelError, of_copy
from bot.channels.slack import ids, modals, pages
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.home import HomeTab
from bot.channels.slack.ids import Body, Meta
from bot.channels.slack.submissions import Submissions
from bot.channels.slack.talk import Talk
from bot.channels.slack.views import Kind, Views, everything
from bot.click import Reply, Target, Unread
from bot.inbox import Inbox
from hitl_core.errors import Refused, told
from hitl_core.model import DecisionType, DoubtAnswer, Snapshot
from hitl_core.review.transitions import Proposal

log = logging.getLogger(__name__)

#: What drawing a modal again may take of the 3 s that a click has, after what it did was stored.
DRAWN = 0.8

DOUBTS: dict[str, DoubtAnswer] = {
    "doubt_ran": "ran",
    "doubt_rerun": "rerun",
    "doubt_skip": "skip",
}


class Listeners:
    """`register` ties each button and modal of this channel to one method."""

    def __init__(self, inbox: Inbox, channel: SlackChannel, home: HomeTab) -> None:
        self._inbox, self._channel = inbox, channel
        self._talk = Talk(inbox, channel, home)
        self._views = Views(inbox.access, channel)
        self._submissions = Submissions(inbox, self._views, self._talk)

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators carry no types."""
        app.action("approve")(self.approve)
        app.action("approve_all")(self.approve_all)
        app.action(re.compile("answer:.*"))(self.answer)
        for action_id in ("edit", "reject", "respond", "see"):
            app.action(action_id)(self.open_form)
        app.action("more")(self.more)
        app.action("review")(self.review)
        app.action(re.compile("turn:.*"))(self.turn)
        app.action("escalate")(self.escalate)
        for action_id in DOUBTS:
            app.action(action_id)(self.doubt)
        app.action(re.compile("see_page:.*"))(self.see_page)
        app.action("file")(self.file)
        self._submissions.register(app)
        app.error(self.failed)

    async def failed(self, error: Exception) -> None:
        """The person sees a failure; the log quotes no payload, as Bolt's own handler might."""
        log.error("what somebody did in Slack could not be handled: %s", told(error))

    async def approve(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        target = ids.target(ids.value(body))
        await self._decide(body, respond, _proposal("approve", target), target)
        await ack()

    async def approve_all(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        review_id, revisions, seal = ids.revisions(ids.value(body))
        who, op = await self._talk.who(body), ids.op_of_click(body)
        reply = await self._inbox.approve_all(review_id, revisions, seal, who, op)
        await self._after(body, respond, reply)
        await ack()

    async def answer(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """One of the answers that a question offers."""
        target, number = ids.target(ids.value(body)), ids.last_number(ids.value(body))
        try:
            snapshot = await self._inbox.access.may_see(target, await self._talk.who(body))
            action = snapshot.review.action(target.action)
            choices = choices_of(action.config) if action else ()
            if action is None or number >= len(choices):
                raise Refused("unknown_action", "This review has no such answer.")
            responds = "respond" in action.config.allowed_decisions
            kind: DecisionType = "respond" if responds else "approve"
            proposal = _proposal(kind, target, choices[number].answer)
            await self._decide(body, respond, proposal, target)
        except Refused as refused:
            await self._talk.tell(body, respond, Reply(refused.code, str(refused)))
        await ack()

    async def more(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """What stands under the dots: its value begins with the word for it."""
        verb, _, value = ids.chosen(body).partition(".")
        target = ids.target(value)
        if verb == "ignore":
            await self._decide(body, respond, _proposal("ignore", target), target)
        else:
            await self._open(body, respond, "respond", target)
        await ack()

    async def open_form(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        kind = cast(Kind, body["actions"][0]["action_id"])
        await self._open(body, respond, kind, ids.target(ids.value(body)))
        await ack()

    async def review(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """The modal that pages through everything that stands on this card."""
        value = ids.value(body)
        target, card = ids.target(value), ids.message_of(body)
        who = await self._talk.who(body)

        async def drawn() -> modals.View:
            place = await self._inbox.access.place_of(target.review_id, card, who)
            meta = Meta(target, under=place, turn=ids.last_number(value))
            return await self._views.turn(meta, who)

        await self._talk.open(body, respond, Meta(target), drawn())
        await ack()

    async def turn(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        """Another page of the Review modal."""
        value, below = ids.value(body), ids.meta_of(body["view"])
        meta = Meta(below.target, under=below.under, turn=ids.last_number(value))
        who = await self._talk.who(body)
        await self._redrawn(body, self._views.turn(meta, who))
        await ack()

    async def escalate(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        meta = Meta(ids.target(ids.value(body)), card=ids.message_of(body))
        if meta.card is None:
            why = "Press it on the card in its channel: that says from where it is passed on."
            await self._talk.tell(body, respond, Reply("gone", why))
        else:
            drawing = self._views.passing_on(meta, await self._talk.who(body))
            await self._talk.open(body, respond, meta, drawing)
        await ack()

    async def doubt(self, ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        who, target = await self._talk.who(body), ids.target(ids.value(body))
        answer = DOUBTS[str(body["actions"][0]["action_id"])]
        reply = await self._inbox.resolve(target, answer, who, ids.op_of_click(body))
        await self._after(body, respond, reply)
        await ack()

    async def see_page(self, ack: AsyncAck, body: Body) -> None:
        """Another page of "See all of it"."""
        value = ids.value(body)
        meta = Meta(ids.target(value), ids.last_number(value))
        who = await self._talk.who(body)
        await self._redrawn(body, self._views.see(meta, who))
        await ack()

    async def file(self, ack: AsyncAck, body: Body) -> None:
        """All of it as a file in the thread of its card: for what is too long to be read in a modal."""
        target = ids.target(ids.value(body))
        try:
            snapshot = await self._inbox.access.may_see(target, await self._talk.who(body))
            name, text = await apart(snapshot.review, lambda: _as_file(target, snapshot))
            action = snapshot.review.action(target.action)
            places = action.places if action else snapshot.review.places
            place = next((one for one in snapshot.posts if of_copy(one) in places), None)
            if place is None:
                raise Refused(
                    "gone", "Its card doesn't stand anywhere yet. Press again in a moment."
                )
            ref = snapshot.posts[place]
            await self._channel.upload(place, ref, f"{name}.txt", text)
            where = self._channel.name_of(place)
            view = modals.notice(f"The file is below the card in {where}.", "Posted")
        except Refused as refused:
            view = modals.notice(str(refused))
        except ChannelError as error:
            log.warning("review %s: no file: %s", target.review_id, error)
            view = modals.notice("Slack didn't take the file. Press again in a moment.")
        await self._talk.push(body, view)
        await ack()

    async def _decide(
        self, body: Body, respond: AsyncRespond, proposal: Proposal, target: Target
    ) -> None:
        who = await self._talk.who(body)
        reply = await self._inbox.decide(target, proposal, who, ids.op_of_click(body))
        if reply.code == "message_required" and proposal.type == "approve":
            await self._open(body, respond, "answer", target)
        else:
            await self._after(body, respond, reply)

    async def _after(self, body: Body, respond: AsyncRespond, reply: Reply) -> None:
        """What the person sees of it, where the card alone doesn't show it."""
        view = ids.view_of(body)
        if reply.unread is not None:
            await self._open(body, respond, "see", reply.unread)
        elif reply.code != "ok":
            await self._talk.tell(body, respond, reply)
        elif view.get("callback_id") == "review":
            who = await self._talk.who(body)
            await self._redrawn(body, self._views.turn(ids.meta_of(view), who, on=True))
        else:
            await self._talk.tell(body, respond, reply)
        await self._talk.refresh_home(body)

    async def _redrawn(self, body: Body, drawing: Coroutine[Any, Any, modals.View]) -> None:
        """The modal with the button, drawn again. Never raises: what it shows has happened anyway."""
        try:
            async with budget.within(DRAWN):
                view = await drawing
                await self._talk.update(str(body["view"]["id"]), view)
        except TimeoutError:
            log.warning("a modal could not be drawn again in time")
        except Refused as refused:
            await self._talk.interrupt(body, refused)

    async def _open(self, body: Body, respond: AsyncRespond, kind: Kind, target: Target) -> None:
        """Where the policy wants all of it to be seen before, that opens in its place."""
        view = ids.view_of(body)
        below = ids.meta_of(view) if view.get("callback_id") == "review" else None
        meta = Meta(target, under=below.under, turn=below.turn) if below else Meta(target)
        who = await self._talk.who(body)

        async def drawn() -> modals.View:
            try:
                return await self._views.of(kind, meta, who)
            except Unread as unread:
                return await self._views.of("see", replace(meta, target=unread.target), who)

        await self._talk.open(body, respond, meta, drawn())


def _as_file(target: Target, snapshot: Snapshot) -> tuple[str, str]:
    name, arguments = everything(target, snapshot)
    return name, pages.as_text(arguments)


def _proposal(kind: DecisionType, target: Target, answer: Any = None) -> Proposal:
    return Proposal(kind, target.revision, answer=answer, seal=target.seal)
