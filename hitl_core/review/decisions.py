"""The people's part of the state machine: decisions, votes and edits. Pure.

A transition that would change nothing raises Refused. Its text is for the person who clicked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hitl_core.errors import DecisionError, Refused
from hitl_core.model import (
    Action,
    Arguments,
    DecisionType,
    EditRecord,
    Event,
    EventKind,
    Place,
    Review,
    Reviewer,
)
from hitl_core.review import vote_count
from hitl_core.review.edits import (
    EditRuling,
    JudgedProposal,
    Proposal,
    final_message,
    judge_proposal,
)
from hitl_core.review.escalation import is_late
from hitl_core.review.transition import (
    PAST_VERBS,
    Transition,
    check_not_cancelled,
    check_seal,
    has_started,
    make_event,
    with_actions,
)
from hitl_core.sentences import join_names


def decide(
    review: Review,
    key: str,
    proposal: Proposal,
    by: Reviewer,
    now: float,
    *,
    ineligible_voters: Collection[str] = (),
    place: Place | None = None,
    has_new_grant: bool = False,
    judged: JudgedProposal | None = None,
) -> Transition:
    """One person's decision on one action. The result is a final decision, a vote if the quorum needs more
    people, or an edit that other people must approve. Votes of `ineligible_voters` (keys) no longer count.

    The policy judges an edit again. If another rule matches now, the editor's own approval counts only if
    `has_new_grant`: the caller has checked that this person may decide by that rule. `judged` is what
    `judge_new_edit` returned; for another version of the review the edit is judged again.
    """
    action = _check_proposal(review, key, proposal, now)
    valid_votes, note = vote_count.drop_votes(action.votes, ineligible_voters)
    if valid_votes != action.votes:
        action = action.model_copy(update={"votes": valid_votes})
    if judged is None or judged.review is not review:
        judged = judge_proposal(review, action, proposal, now)
    args, name, ruling = judged.args, judged.name, judged.ruling
    vote_type = "approve" if proposal.type == "edit" and ruling is None else proposal.type
    vote_count.check_voter(review, action, vote_type, by)
    message, approval_counts = final_message(action, proposal), True
    if ruling is not None:
        check_not_run(review, action)
        action = add_revision(ruling, proposal, args, name, by, now)
        if ruling.verdict is not None:
            excluded = action.route.reviewers.exclude_requester and review.is_requester(by)
            approval_counts = has_new_grant and not ruling.is_stricter and not excluded
            rule_note = f"(This {name} falls under {ruling.verdict.rule_label}.)"
            note = " ".join(filter(None, (note, rule_note)))
    if vote_type != "edit" or (approval_counts and action.route.reviewers.editor_approves):
        action = vote_count.add_vote(review, action, proposal, message, by, now)
    if ruling is not None and action.is_pending:
        _check_others_can_approve(review, action, name, now)
    changed = with_actions(review, {key: action}, now)
    if ruling is not None:
        changed = with_edited_call(changed, action, judged)
    kind, what = _result(action, vote_type, proposal)
    why = " ".join(filter(None, (message, note))) or None
    event = make_event(
        kind, review, now, [key], after=changed, by=by, what=what, why=why, place=place
    )
    return Transition(changed, event)


def _check_others_can_approve(review: Review, edited: Action, name: str, now: float) -> None:
    """Raises Refused if nobody could approve this edit, or only too late."""
    vote_count.check_others_can_approve(review, edited, name)
    if is_late(edited, now):
        why = f"By the rule for it, the time to decide on this {name} is over."
        raise Refused("not_allowed", why)


def decide_all(
    review: Review,
    proposals: Mapping[str, Proposal],
    by: Reviewer,
    now: float,
    *,
    ineligible_voters: Mapping[str, Collection[str]] | None = None,
    place: Place | None = None,
    seal: str | None = None,
) -> Transition:
    """Several decisions at once, by the actions' keys: all are applied, or none. A vote that this person has
    given already stays as it is, unless they have given all of them.

    Raises DecisionError for the first decision that is refused, and Refused if `seal` is not the seal of
    these actions together. The event lists all actions, decisions and hashes, in the same order.
    """
    changed, events, repeated = review, dict[str, Event](), None
    for index, (key, proposal) in enumerate(proposals.items()):
        try:
            ineligible = (ineligible_voters or {}).get(key, ())
            changed, event = decide(changed, key, proposal, by, now, ineligible_voters=ineligible)
        except Refused as refused:
            action = review.action(key)
            tool = action.request.name if action else None
            field = refused.field if isinstance(refused, DecisionError) else "type"
            error = DecisionError(
                str(refused), index=index, tool=tool, field=field, code=refused.code
            )
            if refused.code != "already_voted":
                raise error from refused
            repeated = repeated or error
        else:
            events[key] = event
    if not events:
        raise repeated or DecisionError("The answer has no decision: decide at least one action.")
    check_seal(review, seal, *proposals)
    kinds = [event.kind for event in events.values()]
    event = make_event(
        "decided" if "decided" in kinds else "edited" if "edited" in kinds else "voted",
        review,
        now,
        events,
        after=changed,
        by=by,
        what=[event.what or "" for event in events.values()],
        why="; ".join(dict.fromkeys(each.why for each in events.values() if each.why)) or None,
        place=place,
    )
    return Transition(changed, event)


def judge_new_edit(
    review: Review, key: str, proposal: Proposal, now: float
) -> JudgedProposal | None:
    """The policy's judgement of an edit, for a caller that must look up who may decide by it. None for other
    proposals, and for an edit of another revision. Raises Refused if the policy denies the edit.
    """
    action = review.action(key)
    if action is None or proposal.type != "edit" or proposal.revision != action.revision:
        return None
    return judge_proposal(review, action, proposal, now)


def check_decidable(
    review: Review, action: Action, revision: int, now: float, seal: str | None = None
) -> None:
    """Raises Refused if nobody can decide on this revision of the action now. `seal` is the seal of what the
    person saw; None skips this comparison.
    """
    if action.decision is not None:
        who, verb = _decider_names(action), PAST_VERBS[action.decision.type]
        raise Refused("already_decided", f"{who} already {verb} {action.name}.")
    check_not_cancelled(review)
    if is_late(action, now):
        raise Refused("expired", f"The time to decide on {action.name} is over.")
    if revision != action.revision:
        by = f" by {action.edits[-1].by.label}" if action.edits else ""
        raise Refused("stale", f"{action.name} was edited{by} in the meantime. Look at it again.")
    check_seal(review, seal, action.key)


def check_not_run(review: Review, action: Action) -> None:
    """Raises Refused if the call may have run already, as after the release of a held review."""
    if has_started(review, action.key):
        text = f"{action.name} may have run as it is, so it can't be changed."
        raise Refused("already_started", text)


def _check_proposal(review: Review, key: str, proposal: Proposal, now: float) -> Action:
    """The action with this key. Raises Refused if it can't be decided now, or not in this way."""
    action = review.action(key)
    if action is None:
        raise Refused("unknown_action", "This review has no such action.")
    check_decidable(review, action, proposal.revision, now, proposal.seal)
    if proposal.type not in action.config.allowed_decisions:
        raise Refused("not_allowed", f"The policy doesn't allow this answer for {action.name}.")
    return action


def _result(
    action: Action, vote_type: DecisionType, proposal: Proposal
) -> tuple[EventKind, DecisionType]:
    """What the event says: the decision, or this person's edit or vote."""
    if action.decision is not None:
        return "decided", action.decision.type
    return "edited" if vote_type == "edit" else "voted", proposal.type


def add_revision(
    ruling: EditRuling, proposal: Proposal, args: Arguments, name: str, by: Reviewer, now: float
) -> Action:
    """A new revision, without votes. A person's answer that goes into the arguments is not an edit."""
    action = ruling.action
    revision, edits, args_hash = action.revision + 1, action.edits, args.hash
    if proposal.type == "edit":
        other = name if name != action.request.name else None
        edit = EditRecord(
            by=by, at=now, revision=revision, args_hash=args_hash, name=other, under=ruling.verdict
        )
        edits = (*edits, edit)
    update = {"revision": revision, "args_hash": args_hash, "votes": (), "edits": edits}
    return action.model_copy(update=update)


def with_edited_call(review: Review, action: Action, judged: JudgedProposal) -> Review:
    """The review with the arguments of a new revision. An edit can't make the call freer: after a crash it
    runs again only if all rules so far allow that, and hidden texts of the agent stay hidden.
    """
    assert judged.ruling is not None  # something was changed
    idempotent = judged.ruling.idempotent
    calls = tuple(
        call.model_copy(
            update={
                "idempotent": call.idempotent and idempotent,
                "hides_values": call.hides_values or judged.hides_values,
            }
        )
        if call.key == action.key
        else call
        for call in review.calls
    )
    args = {**review.args, f"{action.key}:{action.revision}": judged.args}
    return review.model_copy(update={"calls": calls, "args": args})


def _decider_names(action: Action) -> str:
    people = action.deciders
    return join_names(dict.fromkeys(who.label for who in people)) if people else "The deadline"
