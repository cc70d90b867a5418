"""Which modal belongs to a button: read from the review as it is now, for somebody who may decide."""

from __future__ import annotations

from typing import Any, Literal, assert_never

from bot.access import Access
from bot.apart import apart
from bot.card import arguments_of, open_of
from bot.channels.slack import modals, pages, turns
from bot.channels.slack.answering import Answering, is_plain
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.editing import Editing
from bot.channels.slack.filling import Answers
from bot.channels.slack.form_modal import FormModal
from bot.channels.slack.ids import Meta
from bot.channels.slack.modals import View
from bot.click import Target
from hitl_core.errors import Refused
from hitl_core.model import Action, DecisionType, Reviewer, Snapshot
from hitl_core.review.redaction import redacted, schema_shown

#: What a button opens. "answer": what Approve needs besides.
Kind = Literal["edit", "reject", "respond", "answer", "see"]


class Views:
    """Every method raises Refused."""

    def __init__(self, access: Access, channel: SlackChannel) -> None:
        self._access, self._channel = access, channel

    async def of(self, kind: Kind, meta: Meta, who: Reviewer) -> View:
        match kind:
            case "see":
                return await self.see(meta, who)
            case "edit":
                snapshot = await self._access.may_decide(meta.target, "edit", who)
                return await _opened(snapshot, "edit", meta)
            case "reject":
                snapshot = await self._access.may_decide(meta.target, "reject", who)
                return modals.reason(meta, _action(snapshot, meta.target))
            case "respond":
                snapshot = await self._access.may_decide(meta.target, "respond", who)
                action = _action(snapshot, meta.target)
                if is_plain(action.config.answer_schema):
                    why = open_of(snapshot.review, action.key).why
                    return modals.answer(meta, action, why)
                return await _opened(snapshot, "respond", meta)
            case "answer":
                snapshot = await self._access.may_decide(meta.target, "approve", who)
                return await _opened(snapshot, "approve", meta)
        assert_never(kind)

    async def see(self, meta: Meta, who: Reviewer) -> View:
        """Its last page counts as having read all of it."""
        snapshot = await self._access.may_see(meta.target, who)
        view = await apart(snapshot.review, lambda: _seen(meta, snapshot))
        if pages.is_last(view):
            await self._access.has_read(meta.target, who)
        return view

    async def turn(self, meta: Meta, who: Reviewer, *, on: bool = False) -> View:
        """A page of the Review modal; `on`: the next one that waits. What it shows whole was read."""
        assert meta.under is not None  # whoever opened it knew where
        snapshot = await self._access.may_see_at(meta.target.review_id, meta.under, who)
        review = snapshot.review
        if on:
            meta = turns.next_page(review, meta)
        if (read := turns.read_whole(review, meta)) is not None:
            await self._access.has_read(Target(review.id, read.key, read.revision), who)
        return await apart(review, lambda: turns.turn(review, meta, self._channel.name_of))

    async def passing_on(self, meta: Meta, who: Reviewer) -> View:
        assert meta.card is not None  # the button stands on it
        target = meta.target
        snapshot, place = await self._access.may_escalate(target.review_id, meta.card, who)
        steps = {
            action.route.escalate[action.next_step].to
            for action in snapshot.review.actions
            if action.pending and place in action.places and action.next_step is not None
        }
        if not steps:
            raise Refused("nothing_to_escalate", "There is nobody else to pass this on to.")
        return modals.passing_on(meta, " and ".join(map(self._channel.name_of, sorted(steps))))


async def _opened(snapshot: Snapshot, kind: DecisionType, meta: Meta) -> View:
    return await apart(snapshot.review, lambda: form(snapshot, kind, meta).view())


def form(
    snapshot: Snapshot, kind: DecisionType, meta: Meta, answers: Answers | None = None
) -> FormModal:
    """The modal in which this decision is filled in. Raises Refused."""
    action = _action(snapshot, meta.target)
    if kind == "edit":
        return Editing(snapshot.review, action, meta, answers or {})
    assert kind in ("respond", "approve")  # the others have no form
    return Answering(snapshot.review, action, kind, meta, answers or {})


def everything(target: Target, snapshot: Snapshot) -> tuple[str, tuple[Any, ...]]:
    """The tool's name and all of its arguments, as people read them. Raises Refused."""
    review = snapshot.review
    if (call := review.call(target.action)) is None:
        raise Refused("unknown_action", "This review has no such action.")
    action, args = review.action(target.action), review.arguments(target.action).parse()
    if action is None:
        return call.name, arguments_of(args, None)
    redact = redacted(action, args)
    return action.name, arguments_of(args, schema_shown(action.config), redact)


def _seen(meta: Meta, snapshot: Snapshot) -> View:
    return pages.see(meta, *everything(meta.target, snapshot))


def _action(snapshot: Snapshot, target: Target) -> Action:
    action = snapshot.review.action(target.action)
    assert action is not None  # may_decide looked
    return action
