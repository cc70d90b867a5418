"""The people's part of the state machine: decisions, votes and edits. Pure.

A transition that would change nothing raises Refused. Its text is for the person who clicked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hitl_core.errors import DecisionError, Refused
from hitl_core.model import (
    Action,
    Decision,
    DecisionType,
    Event,
    EventKind,
    Place,
    Review,
    Reviewer,
    Verdict,
    Vote,
)
from hitl_core.policy import find_unreachable_quorum
from hitl_core.review import vote_count
from hitl_core.review.proposal import (
    JudgedProposal,
    Proposal,
    final_answer,
    final_message,
    judge_proposal,
)
from hitl_core.review.revisions import add_revision, with_edited_call
from hitl_core.review.transition import (
    Transition,
    check_decidable,
    check_seal,
    make_event,
    with_actions,
)


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
    action = action.model_copy(update={"votes": valid_votes})
    if judged is None or judged.review is not review:
        judged = judge_proposal(review, action, proposal, now)
    args, name, ruling = judged.args, judged.name, judged.ruling
    vote_type = "approve" if proposal.type == "edit" and ruling is None else proposal.type
    check_voter(review, action, vote_type, by)
    message, stored_args, approval_counts = final_message(action, proposal), dict(review.args), True
    if ruling is not None:
        action = add_revision(ruling, proposal, args, name, by, now)
        stored_args[f"{key}:{action.revision}"] = args
        if ruling.verdict is not None:
            approval_counts = (
                has_new_grant and not ruling.is_stricter and not _is_requester(review, action, by)
            )
            note = " ".join(filter(None, (note, _rule_note(name, ruling.verdict))))
    if vote_type != "edit" or (approval_counts and action.route.reviewers.editor_approves):
        action = _add_vote(action, proposal, message, by, now)
    if ruling is not None and action.is_pending:
        _check_others_can_approve(review, action, name)
    changed = with_actions(review, {key: action}, now).model_copy(update={"args": stored_args})
    if ruling is not None:
        changed = with_edited_call(changed, action, ruling, args)
    kind, what = _result(action, vote_type, proposal)
    why = " ".join(filter(None, (message, note))) or None
    event = make_event(
        kind, review, now, [key], after=changed, by=by, what=what, why=why, place=place
    )
    return Transition(changed, event)


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
    """Several decisions at once, by the actions' keys: all are applied, or none.

    Raises DecisionError for the first decision that is refused, and Refused if `seal` is not the seal of
    these actions together. The event lists all actions, decisions and digests, in the same order.
    """
    changed, events = review, list[Event]()
    for index, (key, proposal) in enumerate(proposals.items()):
        try:
            ineligible = (ineligible_voters or {}).get(key, ())
            changed, event = decide(changed, key, proposal, by, now, ineligible_voters=ineligible)
        except Refused as refused:
            action = review.action(key)
            tool = action.request.name if action else None
            field = refused.field if isinstance(refused, DecisionError) else "type"
            raise DecisionError(
                str(refused), index=index, tool=tool, field=field, code=refused.code
            ) from refused
        events.append(event)
    if not events:
        raise DecisionError("The answer has no decision: decide at least one action.")
    check_seal(review, seal, *proposals)
    kinds = [event.kind for event in events]
    event = make_event(
        "decided" if "decided" in kinds else "edited" if "edited" in kinds else "voted",
        review,
        now,
        proposals,
        after=changed,
        by=by,
        what=[event.what or "" for event in events],
        why="; ".join(dict.fromkeys(event.why for event in events if event.why)) or None,
        place=place,
    )
    return Transition(changed, event)


def check_voter(review: Review, action: Action, vote_type: DecisionType, by: Reviewer) -> None:
    """Raises Refused if this person's answer to the newest revision can't count."""
    if vote_type == "edit":
        if action.route.reviewers.editor_approves:
            vote_count.check_not_excluded(
                review, action.model_copy(update={"edits": ()}), "approve", by
            )
        return
    open_ended = vote_type == "respond" or (vote_type == "approve" and action.config.answer_schema)
    if not open_ended:  # an open answer is compared with earlier ones when it is given
        vote = Vote(type=vote_type, by=by, at=0.0, revision=action.revision)
        vote_count.count_vote(action.votes, vote, action.route.reviewers)
    vote_count.check_not_excluded(review, action, vote_type, by)


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


def _is_requester(review: Review, action: Action, by: Reviewer) -> bool:
    """Whether this is the requester, and the rule excludes the requester."""
    excluded = action.route.reviewers.exclude_requester
    return excluded and review.is_requester(by)


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


def _check_others_can_approve(review: Review, action: Action, name: str) -> None:
    """Raises Refused if the edited action waits for other people, and nobody could approve it."""
    if "approve" not in action.config.allowed_decisions:
        raise Refused(
            "not_allowed",
            f"Other people must approve this {name}, but its rule doesn't allow `approve`.",
        )
    if find_unreachable_quorum(action.route, vote_count.excluded_keys(review, action)):
        raise Refused(
            "not_allowed", f"Others had to approve this {name}, and too few are left who may."
        )


def _rule_note(name: str, verdict: Verdict) -> str:
    rule = f"the rule `{verdict.rule}`" if verdict.rule else "the policy's default"
    return f"(This {name} falls under {rule}.)"


def _add_vote(
    action: Action, proposal: Proposal, message: str | None, by: Reviewer, now: float
) -> Action:
    """Add one vote, and the decision if enough votes agree now."""
    answer, kind = final_answer(action, proposal), proposal.type
    vote_type = "approve" if kind == "edit" else kind
    vote = Vote(
        type=vote_type, by=by, at=now, revision=action.revision, message=message, answer=answer
    )  # fmt: skip
    new_votes, agreeing, is_enough = vote_count.count_vote(
        action.votes, vote, action.route.reviewers
    )
    if not is_enough:
        return action.model_copy(update={"votes": new_votes})
    if len(agreeing) == 1:  # one person is enough, so this is the decision and not a vote
        new_votes = new_votes[:-1]
    elif vote_type in vote_count.NEGATIVE:
        message = "\n".join(dict.fromkeys(v.message for v in agreeing if v.message)) or None
    if vote_type == "approve":
        kind = "edit" if action.edits else kind
    decision = Decision(
        type=kind,
        by=by,
        at=now,
        revision=action.revision,
        digest=action.digest,
        message=message,
        name=action.name if action.name != action.request.name else None,
        answer=answer,
    )
    return action.model_copy(update={"votes": new_votes, "decision": decision})
