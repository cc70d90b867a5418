"""Which modal belongs to a button: read from the review as it is now, for somebody who may decide."""

from __future__ import annotations

import json
from typing import Any, Literal, assert_never, cast

from bot.card import arguments_of
from bot.channels.slack import modals, pages, turns
from bot.channels.slack.asking_form import AnswerForm, is_plain
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.editing import Answers, Editing
from bot.channels.slack.ids import Body, Meta
from bot.channels.slack.modals import View
from bot.inbox import Inbox, Target
from hitl_core.errors import Refused
from hitl_core.model import Action, Reviewer, Snapshot

Kind = Literal["edit", "reject", "respond", "answer", "see"]

#: How long the pages of a form that is not sent yet are kept, in seconds.
DRAFT = 3600.0


class Views:
    """Every method raises Refused."""

    def __init__(self, inbox: Inbox, channel: SlackChannel) -> None:
        self._inbox, self._channel = inbox, channel

    async def of(self, kind: Kind, meta: Meta, who: Reviewer) -> View:
        match kind:
            case "see":
                return await self.see(meta, who)
            case "edit":
                return (await self.editing(meta, who, {})).view()
            case "reject":
                action = await self._open_for(meta.target, "reject", who)
                required = action.config.reject_reason == "required"
                return modals.reason(meta, action.request.name, required=required)
            case "respond":
                action = await self._open_for(meta.target, "respond", who)
                if is_plain(action.config.answer_schema):
                    return modals.answer(meta, action.request.name)
                return AnswerForm(action, "respond").view(meta)
            case "answer":  # what Approve needs besides
                action = await self._open_for(meta.target, "approve", who)
                return AnswerForm(action, "approve").view(meta)
        assert_never(kind)

    async def see(self, meta: Meta, who: Reviewer) -> View:
        """Its last page counts as having read all of it."""
        snapshot = await self._inbox.may_see(meta.target, who)
        name, arguments = everything(meta.target, snapshot)
        if pages.is_last(meta, arguments):
            await self._inbox.has_read(meta.target, who)
        return pages.see(meta, name, arguments)

    async def turn(self, meta: Meta, who: Reviewer, *, on: bool = False) -> View:
        """A page of the Review modal; `on`: the next one that waits."""
        snapshot = await self._inbox.may_see(meta.target, who)
        if on:
            meta = turns.next_page(snapshot.review, meta)
        return turns.turn(snapshot.review, meta, self._channel.name_of)

    async def passing_on(self, meta: Meta, who: Reviewer) -> View:
        assert meta.card is not None  # the button stands on it
        card = meta.card
        target = meta.target
        place = await self._inbox.may_escalate(target.review_id, card.conversation, card.ts, who)
        snapshot = await self._inbox.load(target.review_id)
        steps = {
            action.route.escalate[action.next_step].to
            for action in snapshot.review.actions
            if action.pending and place in action.places and action.next_step is not None
        }
        if not steps:
            raise Refused("nothing_to_escalate", "There is nobody else to pass this on to.")
        return modals.passing_on(meta, " and ".join(map(self._channel.name_of, sorted(steps))))

    async def editing(self, meta: Meta, who: Reviewer, answers: Answers, op: str = "") -> Editing:
        snapshot = await self._inbox.may_decide(meta.target, "edit", who, op)
        action = snapshot.review.action(meta.target.action)
        assert action is not None  # may_decide looked
        return Editing(snapshot.review, action, meta, answers)

    async def draft(self, view: Body, who: Reviewer) -> Answers:
        """The answers of the other pages."""
        data = await self._inbox.draft(_draft_key(view, who))
        return cast("Answers", json.loads(data)) if data else {}

    async def keep(self, view: Body, who: Reviewer, answers: Answers) -> None:
        await self._inbox.save_draft(_draft_key(view, who), json.dumps(answers).encode(), DRAFT)

    async def _open_for(
        self, target: Target, kind: Literal["approve", "reject", "respond"], who: Reviewer
    ) -> Action:
        snapshot = await self._inbox.may_decide(target, kind, who)
        action = snapshot.review.action(target.action)
        assert action is not None  # may_decide looked
        return action


def everything(target: Target, snapshot: Snapshot) -> tuple[str, tuple[Any, ...]]:
    """The tool's name and all of its arguments, as people read them."""
    review = snapshot.review
    if (call := review.call(target.action)) is None:
        raise Refused("unknown_action", "This review has no such action.")
    action, args = review.action(target.action), review.arguments(target.action).parse()
    if action is None:
        return call.name, arguments_of(args, None)
    return action.name, arguments_of(args, action.config.args_schema, action.config.redact)


def _draft_key(view: Body, who: Reviewer) -> str:
    return f"form:{view['id']}:{who.key}"
