"""The state machine, people's half: who decides what, alone or with others. Pure.

A transition raises Refused where it changes nothing; the text is for the person who asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hitl_core.errors import DecisionError, Refused
from hitl_core.model import (
    Action,
    Arguments,
    Decision,
    DecisionType,
    Edited,
    Event,
    EventKind,
    Grant,
    Place,
    Review,
    Reviewer,
    Verdict,
    Vote,
)
from hitl_core.review import tally
from hitl_core.review.changed import Changed, check_open, check_seal, event_of, with_actions
from hitl_core.review.judging import Judged
from hitl_core.review.proposal import Proposal, answer_of, args_of, judged, message_of, name_of


def decide(
    review: Review,
    key: str,
    proposal: Proposal,
    by: Reviewer,
    now: float,
    *,
    lapsed: Collection[str] = (),
    place: Place | None = None,
    entitled: bool = False,
) -> Changed:
    """One person's decision on one action: final, or a vote where it takes several, or an edit on which
    others decide. `lapsed` are the keys of voters who may decide no more: their votes are void.

    An edit is judged again. Where it falls under another rule its editor's own approval counts only where
    `entitled` says that this person may decide by that rule itself (`asks_anew`); not known is no.
    """
    action = review.action(key)
    if action is None:
        raise Refused("unknown_action", "This review has no such action.")
    check_open(review, action, proposal.revision, now, proposal.seal)
    if proposal.type not in action.config.allowed_decisions:
        raise Refused("not_allowed", f"The policy doesn't allow this answer for {action.name}.")
    votes, without = tally.without(action.votes, lapsed)
    action = action.model_copy(update={"votes": votes})
    args, name = args_of(review, action, proposal), name_of(action, proposal)
    found = judged(review, action, proposal, now)
    says = "approve" if proposal.type == "edit" and found is None else proposal.type
    check_voter(review, action, says, by)
    message = message_of(action, proposal)
    bytes_of = dict(review.args)
    counts = True
    if found is not None:
        action = _revised(found, proposal, args, name, by, now)
        bytes_of[f"{key}:{action.revision}"] = args
        if found.under is not None:
            counts = entitled and not found.more and not _is_requester(review, action, by)
            without = " ".join(filter(None, (without, _fell_under(name, found.under))))
    if says != "edit" or (counts and action.route.reviewers.editor_approves):
        action = _counted(action, proposal, message, by, now)
    if found is not None and action.pending and "approve" not in action.config.allowed_decisions:
        raise Refused(
            "not_allowed", f"Others had to approve this {name}, and the rule allows no approval."
        )
    changed = with_actions(review, {key: action}, now).model_copy(update={"args": bytes_of})
    if found is not None and not found.idempotent:
        changed = _once_only(changed, key)
    kind: EventKind = "edited" if says == "edit" else "voted"
    what: DecisionType = proposal.type
    if action.decision is not None:
        kind, what = "decided", action.decision.type
    why = " ".join(filter(None, (message, without))) or None
    event = event_of(
        kind, review, now, [key], after=changed, by=by, what=what, why=why, place=place
    )
    return Changed(changed, event)


def answer(
    review: Review,
    proposals: Mapping[str, Proposal],
    by: Reviewer,
    now: float,
    *,
    lapsed: Mapping[str, Collection[str]] | None = None,
    place: Place | None = None,
    seal: str | None = None,
) -> Changed:
    """A whole answer at once, by the actions' keys: all of it, or nothing. Raises DecisionError for the first
    decision that is wrong, Refused where the actions have another `seal` together. Its event names every
    action, decision and digest, in the same order.
    """
    changed, events = review, list[Event]()
    for index, (key, proposal) in enumerate(proposals.items()):
        try:
            void = (lapsed or {}).get(key, ())
            changed, event = decide(changed, key, proposal, by, now, lapsed=void)
        except Refused as refused:
            action = review.action(key)
            tool = action.request.name if action else None
            field = refused.field if isinstance(refused, DecisionError) else "type"
            raise DecisionError(
                str(refused), index=index, tool=tool, field=field, code=refused.code
            ) from refused
        events.append(event)
    if not events:
        raise DecisionError("The answer decides nothing.")
    check_seal(review, seal, *proposals)
    kinds = [event.kind for event in events]
    event = event_of(
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
    return Changed(changed, event)


def check_voter(review: Review, action: Action, says: DecisionType, by: Reviewer) -> None:
    """Raises Refused where this person's answer to the newest revision could not count."""
    if says == "edit":
        if action.route.reviewers.editor_approves:
            tally.check_may(review, action.model_copy(update={"edits": ()}), "approve", by)
        return
    open_ended = says == "respond" or (says == "approve" and action.config.answer_schema)
    if not open_ended:  # else the answer itself tells whether it was said before
        vote = Vote(type=says, by=by, at=0.0, revision=action.revision)
        tally.count(action.votes, vote, action.route.reviewers)
    tally.check_may(review, action, says, by)


def asks_anew(review: Review, key: str, proposal: Proposal, now: float) -> Grant | None:
    """Who may decide by the rule that an edit falls under, where that is another than before. Raises Refused
    for an edit that the policy denies.
    """
    action = review.action(key)
    if action is None or proposal.type != "edit" or proposal.revision != action.revision:
        return None
    found = judged(review, action, proposal, now)
    return found.grant if found is not None and found.under is not None else None


def _is_requester(review: Review, action: Action, by: Reviewer) -> bool:
    """Whether this is the requester, who must not approve it."""
    excluded = action.route.reviewers.exclude_requester
    return excluded and by.id == (review.requester or "").removeprefix("slack:")


def _fell_under(name: str, verdict: Verdict) -> str:
    rule = f"the rule `{verdict.rule}`" if verdict.rule else "the policy's default"
    return f"(This {name} falls under {rule}.)"


def _revised(
    found: Judged, proposal: Proposal, args: Arguments, name: str, by: Reviewer, now: float
) -> Action:
    """Another revision, on which nobody has voted yet. A person's answer among the arguments is no edit."""
    action = found.action
    revision, edits = action.revision + 1, action.edits
    if proposal.type == "edit":
        other = name if name != action.request.name else None
        digest, under = args.digest, found.under
        made = Edited(by=by, at=now, revision=revision, digest=digest, name=other, under=under)
        edits = (*edits, made)
    update = {"revision": revision, "digest": args.digest, "votes": (), "edits": edits}
    return action.model_copy(update=update)


def _counted(
    action: Action, proposal: Proposal, message: str | None, by: Reviewer, now: float
) -> Action:
    """With its decision, where enough say the same; else with one vote more."""
    answer, kind = answer_of(action, proposal), proposal.type
    says = "approve" if kind == "edit" else kind
    vote = Vote(
        type=says, by=by, at=now, revision=action.revision, message=message, answer=answer
    )  # fmt: skip
    votes, agreed, enough = tally.count(action.votes, vote, action.route.reviewers)
    if not enough:
        return action.model_copy(update={"votes": votes})
    if len(agreed) == 1:  # one person is enough: that is the decision, and no vote
        votes = votes[:-1]
    elif says in tally.NO:
        message = "\n".join(dict.fromkeys(v.message for v in agreed if v.message)) or None
    if says == "approve":
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
    return action.model_copy(update={"votes": votes, "decision": decision})


def _once_only(review: Review, key: str) -> Review:
    """This call must not run a second time unless a person says so."""
    calls = tuple(
        call.model_copy(update={"idempotent": False}) if call.key == key else call
        for call in review.calls
    )
    return review.model_copy(update={"calls": calls})
