"""The modal for a button: made from the current review, for a person who may decide."""

from __future__ import annotations

from typing import Any, Literal, assert_never

from hitl_core.errors import Refused
from hitl_core.model import Action, DecisionType, Reviewer, Snapshot
from hitl_core.review import redaction_pointers, visible_schema

from ....card import all_arguments, description_text, find_open_action
from ....inbox import ActionRef, ReviewAccess
from ....offload import offload_drawing
from ..channel import SlackChannel
from ..ids import ModalMeta
from ..modals import (
    AnswerModal,
    Answers,
    EditModal,
    FormModal,
    View,
    arguments_modal,
    is_plain_text,
    review_modal,
    small_modals,
)

#: What a button opens. "answer": the form of an answer that Approve needs.
ModalKind = Literal["edit", "reject", "respond", "answer", "see"]


class Views:
    """Every method raises Refused."""

    def __init__(self, access: ReviewAccess, channel: SlackChannel) -> None:
        self._access, self._channel = access, channel

    async def build(self, kind: ModalKind, meta: ModalMeta, who: Reviewer) -> View:
        match kind:
            case "see":
                return await self.arguments_page(meta, who)
            case "edit":
                snapshot = await self._access.load_for_decision(meta.target, "edit", who)
                return await _form_view(snapshot, "edit", meta)
            case "reject":
                snapshot = await self._access.load_for_decision(meta.target, "reject", who)
                return small_modals.rejection(meta, _get_action(snapshot, meta.target))
            case "respond":
                snapshot = await self._access.load_for_decision(meta.target, "respond", who)
                action = _get_action(snapshot, meta.target)
                if is_plain_text(action.config.answer_schema):
                    why = description_text(find_open_action(snapshot.review, action.key))
                    return small_modals.text_answer(meta, action, why)
                return await _form_view(snapshot, "respond", meta)
            case "answer":
                snapshot = await self._access.load_for_decision(meta.target, "approve", who)
                return await _form_view(snapshot, "approve", meta)
        assert_never(kind)

    async def arguments_page(self, meta: ModalMeta, who: Reviewer) -> View:
        """Opening the last page counts as having read all arguments."""
        snapshot = await self._access.load_for_view(meta.target, who)
        view = await offload_drawing(snapshot.review, lambda: _arguments_view(meta, snapshot))
        if arguments_modal.is_last_page(view):
            await self._access.mark_read(meta.target, who)
        return view

    async def review_page(
        self, meta: ModalMeta, who: Reviewer, *, next_pending: bool = False
    ) -> View:
        """A page of the Review modal; with `next_pending` the next pending action. An action that the page
        shows completely counts as read.
        """
        assert meta.review_place is not None  # `find_place` set it
        snapshot = await self._access.load_at_place(meta.target.review_id, meta.review_place, who)
        review = snapshot.review
        if next_pending:
            meta = review_modal.next_pending_page(review, meta)
        if (read_action := review_modal.fully_shown_action(review, meta)) is not None:
            await self._access.mark_read(
                ActionRef(review.id, read_action.key, read_action.revision), who
            )
        return await offload_drawing(
            review, lambda: review_modal.review_page(review, meta, self._channel.name_of)
        )

    async def escalation(self, meta: ModalMeta, who: Reviewer) -> View:
        assert meta.card is not None  # the button is on that message
        target = meta.target
        snapshot, place = await self._access.load_for_escalation(target.review_id, meta.card, who)
        steps = {
            action.route.escalate[action.next_step].to
            for action in snapshot.review.actions
            if action.is_pending and place in action.places and action.next_step is not None
        }
        if not steps:
            raise Refused(
                "nothing_to_escalate", "There is no further step: nobody else can get this."
            )
        return small_modals.escalation(
            meta, " and ".join(map(self._channel.name_of, sorted(steps)))
        )


async def _form_view(snapshot: Snapshot, kind: DecisionType, meta: ModalMeta) -> View:
    return await offload_drawing(snapshot.review, lambda: build_form(snapshot, kind, meta).view())


def build_form(
    snapshot: Snapshot, kind: DecisionType, meta: ModalMeta, answers: Answers | None = None
) -> FormModal:
    """The form modal for this decision. Raises Refused."""
    action = _get_action(snapshot, meta.target)
    if kind == "edit":
        return EditModal(snapshot.review, action, meta, answers or {})
    assert kind in ("respond", "approve")  # the others have no form
    return AnswerModal(snapshot.review, action, kind, meta, answers or {})


def name_and_arguments(target: ActionRef, snapshot: Snapshot) -> tuple[str, tuple[Any, ...]]:
    """The tool's name and all visible arguments. Raises Refused."""
    review = snapshot.review
    if (call := review.call(target.action)) is None:
        raise Refused("unknown_action", "This review has no such action.")
    action, args = review.action(target.action), review.arguments(target.action).parse()
    redact = redaction_pointers(action or call, args)
    if action is None:
        return call.name, all_arguments(args, None, redact)
    return action.name, all_arguments(args, visible_schema(action.config), redact)


def _arguments_view(meta: ModalMeta, snapshot: Snapshot) -> View:
    return arguments_modal.arguments_view(meta, *name_and_arguments(meta.target, snapshot))


def _get_action(snapshot: Snapshot, target: ActionRef) -> Action:
    action = snapshot.review.action(target.action)
    assert action is not None  # `load_for_decision` checked it
    return action
