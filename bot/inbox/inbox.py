"""Applies what a person did, and replies to the person."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import replace
from functools import partial

from hitl_core import telemetry
from hitl_core.errors import HitlError, Refused, StoreUnavailable
from hitl_core.failpoints import failpoint
from hitl_core.model import Grant, MessageRef, Place
from hitl_core.review import (
    AnswerDoubt,
    ChangeResult,
    Decide,
    DecideAll,
    Escalate,
    Findings,
    Proposal,
    Reviews,
    decisions,
    hides_options,
)
from hitl_core.store import Store

from .. import click_budget, refusals
from ..card import choices_of
from ..logs import trace_of
from ..offload import offload_drawing
from ..people import Directory
from .access import ReviewAccess
from .open_views import OpenViews
from .press import Choose, InboxCommand
from .reading import Reader
from .reply import (
    STALE_CODES,
    PermittedSnapshot,
    Reply,
    place_of_message,
)

log = logging.getLogger(__name__)

#: A command as it is stored. A `Choose` has become a `Decide`.
Command = Decide | DecideAll | Escalate | AnswerDoubt


class Inbox:
    """Applies what people do, for all channels."""

    def __init__(self, reviews: Reviews, directory: Directory) -> None:
        self._reviews, self.directory = reviews, directory
        self.access = ReviewAccess(reviews, directory)
        self.reader = Reader(self.access)
        self.open_views = OpenViews(reviews)

    @property
    def store(self) -> Store:
        """The store, where a form keeps its drafts."""
        return self._reviews.store

    async def apply(self, command: InboxCommand, seen: PermittedSnapshot | None = None) -> Reply:
        """Checks the person's permission and everything else, and stores the change. `seen`: a snapshot that
        the same click has loaded; it saves a load. Never raises for an error of ours: that becomes a Reply.
        """
        reply = await self._apply_in_time(command, seen)
        await self._record(command, reply)
        return reply

    async def refresh_card(
        self, reply: Reply, review_id: str, message_ref: MessageRef | None
    ) -> None:
        """Updates the message with the button, if the reply says that the message is out of date, or if it is
        a duplicate. Never raises.
        """
        counted = reply.code == "ok"
        if message_ref is None or not (counted or reply.code in STALE_CODES):
            return
        # A click that counted changed the review, so its recorded messages are updated anyway.
        if counted and reply.place:
            return
        with contextlib.suppress(TimeoutError):
            async with click_budget.timeout("record"):
                if not counted:
                    await self.open_views.forget(message_ref)
                await self._reviews.redraw(
                    review_id, message_ref, reply.snapshot, only_duplicate=counted
                )

    async def _apply_in_time(self, command: InboxCommand, seen: PermittedSnapshot | None) -> Reply:
        review_id, snapshot, place = command.review_id, None, None
        start = time.time_ns()
        try:
            async with click_budget.timeout("apply"):
                snapshot = await self._load(command, seen)
                place = place_of_message(snapshot, command.message_ref)
                review = snapshot.review
                attributes = telemetry.review_attributes(review)
                with telemetry.span("click", attributes, parent=review.trace, start=start):
                    if isinstance(command, Choose):
                        command = _decide_choice(command, snapshot)
                    result = await self._store(command, snapshot, place)
        except Refused as refused:
            log.info("review %s: %s refused %s", review_id, refused.code, command.who.id)
            return Reply.refusal(refused, snapshot, command, place)
        except (TimeoutError, StoreUnavailable) as error:
            log.warning("review %s: a click could not be stored: %s", review_id, error)
            return Reply("unavailable", refusals.RESULT_UNKNOWN)
        except HitlError as error:
            log.error("review %s: a click failed: %s", review_id, error)
            return Reply("unavailable", refusals.STORE_UNAVAILABLE)
        except Exception as error:
            log.error("review %s: a click failed: %s", review_id, trace_of(error))
            return Reply("unavailable", refusals.RESULT_UNKNOWN)
        changed = replace(snapshot, review=result.review, now=result.now)
        return Reply("ok", snapshot=changed, place=place)

    async def _store(
        self, command: Command, snapshot: PermittedSnapshot, place: Place | None
    ) -> ChangeResult:
        findings = await self._check(command, snapshot, place)
        await failpoint("bot.before_commit")
        with telemetry.span("decide", _decision_attributes(command)):
            result = await self._reviews.apply(command, snapshot, findings)
        await failpoint("bot.after_commit")
        return result

    async def _load(
        self, command: InboxCommand, seen: PermittedSnapshot | None
    ) -> PermittedSnapshot:
        """The review, if this person may do what the command says."""
        review_id, who = command.review_id, command.who
        if isinstance(command, Escalate):
            return (await self.access.load_for_escalation(review_id, command.message_ref, who))[0]
        in_doubt = isinstance(command, AnswerDoubt)
        return await self.access.load_permitted(
            review_id, command.keys, who, seen, in_doubt=in_doubt
        )

    async def _check(
        self, command: Command, snapshot: PermittedSnapshot, place: Place | None
    ) -> Findings:
        """The results of the command's look-ups. Raises Refused if something was not read, or is denied."""
        if command.op in snapshot.review.ops:
            return Findings()  # it is not applied again
        if isinstance(command, Escalate):
            return Findings(place=place)
        marks = self.access.read_marks
        if isinstance(command, Decide):
            proposal = command.proposal
            marks.check(snapshot, {command.action: proposal.type}, proposal.seal)
        elif isinstance(command, DecideAll):
            each = command.proposals.items()
            marks.check(snapshot, {key: one.type for key, one in each}, command.seal)
        else:
            marks.check(snapshot, {command.action: command.answer}, command.seal)
        in_doubt = isinstance(command, AnswerDoubt)
        ineligible = {
            key: await self.access.ineligible_voters(snapshot, key, in_doubt=in_doubt)
            for key in command.keys
        }
        if not isinstance(command, Decide) or command.proposal.type != "edit":
            return Findings(ineligible, place=place)
        review, key, proposal = snapshot.review, command.action, command.proposal
        judge = partial(decisions.judge_new_edit, review, key, proposal, snapshot.now)
        judged = await offload_drawing(review, judge)
        grant = judged.new_grant if judged else None
        has_new_grant = grant is not None and await self._may_decide_by(grant, snapshot)
        return Findings(ineligible, judged, has_new_grant, place)

    async def _may_decide_by(self, grant: Grant, snapshot: PermittedSnapshot) -> bool:
        """Whether this person may decide by the rule that matches an edit, not only because of an escalation.
        If that is unknown, the answer is no.
        """
        try:
            await self.access.check(snapshot, [grant])
        except Refused:
            return False
        return True

    async def _record(self, command: InboxCommand, reply: Reply) -> None:
        """Record a refusal in the audit, and update an old message, both within the time of one step."""
        refresh = self.refresh_card(reply, command.review_id, command.message_ref)
        if reply.code == "ok":
            await refresh
            return
        action = ",".join(command.keys) or None
        record = self.access.refusal_audit.record(
            command.review_id, reply.code, command.who, command.op, action, reply.place
        )
        await asyncio.gather(refresh, record)


def _decide_choice(command: Choose, snapshot: PermittedSnapshot) -> Decide:
    """Raises Refused if there is no such choice."""
    target = command.target
    action = snapshot.review.action(target.action)
    hidden = action is None or hides_options(snapshot.review, action)
    choices = () if action is None or hidden else choices_of(action.config)
    if action is None or command.number >= len(choices):
        raise Refused("unknown_action", refusals.NO_ANSWER)
    proposal = Proposal(
        "respond" if "respond" in action.config.allowed_decisions else "approve",
        target.revision,
        answer=choices[command.number].answer,
        seal=target.seal,
    )
    return Decide(
        target.review_id, target.action, proposal, command.who, command.op, command.message_ref
    )


def _decision_attributes(command: Command) -> dict[str, str | int]:
    """What was done, and in which chat system. Without the person and their words."""
    match command:
        case Decide():
            what = command.proposal.type
        case DecideAll():
            what = "several"
        case Escalate():
            what = "escalate"
        case AnswerDoubt():
            what = "answer_doubt"
    return {"hitl.decision": what, "hitl.channel": command.who.channel}
