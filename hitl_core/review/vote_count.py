"""Counts votes: how many people must agree, who is excluded, and when votes make a decision. Pure.

The same rules apply to an action, to a call in doubt, and to the cancellation of a review.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from hitl_core.errors import Refused
from hitl_core.model import (
    CLI,
    Action,
    Decision,
    DecisionType,
    DoubtAnswer,
    Review,
    Reviewer,
    Reviewers,
    Vote,
    person_key,
)
from hitl_core.policy import find_unreachable_quorum
from hitl_core.review.edits import Proposal, final_answer
from hitl_core.review.transition import PAST_VERBS
from hitl_core.sentences import join_names

VoteType = Literal["approve", "reject", "respond", "ignore"] | DoubtAnswer

#: The answers that mean no: the tool does not run, and its result does not say that it ran. After all others
#: the call runs, or the answer replaces its result.
NEGATIVE: frozenset[VoteType] = frozenset({"reject", "ignore", "skip"})
LAST_VOTE_FROM_CHAT = (
    "The other votes are from the chat, and only the bot can check whether those people may still decide. So"
    " the last vote must come from the chat. Nothing was changed."
)
_VERBS = {"approve": "approve", "respond": "answer"}


class VoteCount(NamedTuple):
    """All votes with the new one, and the votes that agree with it. `is_enough`: they make the decision."""

    votes: tuple[Vote, ...]
    agreeing: tuple[Vote, ...]
    is_enough: bool


def quorum_for(reviewers: Reviewers, vote_type: VoteType) -> int:
    """How many people must agree."""
    return reviewers.reject_quorum if vote_type in NEGATIVE else reviewers.quorum


def count_vote(votes: Sequence[Vote], vote: Vote, reviewers: Reviewers) -> VoteCount:
    """Add one vote. It replaces an earlier vote of the same person.

    Raises Refused if this person already voted the same. Also if votes come from a chat and the last one from
    the command line: only the chat can check whether the earlier voters may still decide.
    """
    if any(one.by.is_same_human(vote.by) and one.agrees_with(vote) for one in votes):
        raise Refused("already_voted", _repeat_message(vote.type))
    after = (*(one for one in votes if not one.by.is_same_human(vote.by)), vote)
    agreeing = tuple(one for one in after if one.agrees_with(vote))
    is_enough = len(agreeing) >= quorum_for(reviewers, vote.type)
    if is_enough and vote.by.channel == CLI and any(one.by.channel != CLI for one in agreeing):
        raise Refused("not_permitted", LAST_VOTE_FROM_CHAT)
    return VoteCount(after, agreeing, is_enough)


def excluded_keys(review: Review, action: Action) -> frozenset[str]:
    """The keys of the people who may not approve by the rule: the requester, and the author of the newest
    edit.
    """
    reviewers, out = action.route.reviewers, set[str]()
    if reviewers.exclude_requester and review.requester:
        out.add(person_key(review.requester))
    if action.edits and not reviewers.editor_approves:
        out |= action.edits[-1].by.keys
    return frozenset(out)


def check_not_excluded(review: Review, action: Action, vote_type: VoteType, by: Reviewer) -> None:
    """Raises Refused if the rule excludes this person. Nobody is excluded from a negative vote."""
    if vote_type in NEGATIVE:
        return
    reviewers, verb = action.route.reviewers, _VERBS.get(vote_type, "decide")
    if reviewers.exclude_requester and review.is_requester(by):
        raise Refused(
            "requester", f"The agent asks on your behalf, so another person must {verb} this."
        )
    mine = bool(action.edits) and action.edits[-1].by.is_same_human(by)
    if mine and vote_type != "respond" and not reviewers.editor_approves:
        raise Refused("own_edit", f"You made this edit yourself, so another person must {verb} it.")


def excluded_voters(review: Review, action: Action, votes: Iterable[Vote]) -> frozenset[str]:
    """The keys of the voters whom the rule excludes. Their identities are those in `votes`, because more may
    be known of a person now than when they voted.
    """
    excluded = set[str]()
    for vote in votes:
        try:
            check_not_excluded(review, action, vote.type, vote.by)
        except Refused:
            excluded.add(vote.by.key)
    return frozenset(excluded)


def drop_votes(
    votes: Sequence[Vote], ineligible_voters: Collection[str]
) -> tuple[tuple[Vote, ...], str | None]:
    """The votes without those of people who may no longer decide (keys), and a note that says so."""
    dropped = [vote.by for vote in votes if vote.by.key in ineligible_voters]
    if not dropped:
        return tuple(votes), None
    remaining = tuple(vote for vote in votes if vote.by not in dropped)
    names = join_names(dict.fromkeys(who.label for who in dropped))
    return remaining, f"(Without {names}, who can no longer decide.)"


def _repeat_message(vote_type: VoteType) -> str:
    answer = f"{PAST_VERBS[vote_type]} this" if vote_type in PAST_VERBS else "said so"
    return f"You already {answer}. Another person is needed."


def check_voter(review: Review, action: Action, vote_type: DecisionType, by: Reviewer) -> None:
    """Raises Refused if this person's answer to the newest revision can't count."""
    if vote_type == "edit":
        if action.route.reviewers.editor_approves:
            check_not_excluded(review, action.model_copy(update={"edits": ()}), "approve", by)
        return
    open_ended = vote_type == "respond" or (vote_type == "approve" and action.config.answer_schema)
    # An open answer is compared with earlier ones when it is given.
    if action.votes and not open_ended:
        vote = Vote(type=vote_type, by=by, at=0.0, revision=action.revision)
        count_vote(action.votes, vote, action.route.reviewers)
    check_not_excluded(review, action, vote_type, by)


def add_vote(
    review: Review,
    action: Action,
    proposal: Proposal,
    message: str | None,
    by: Reviewer,
    now: float,
) -> Action:
    """Add one vote, and the decision if enough votes agree now."""
    answer, kind = final_answer(review, action, proposal), proposal.type
    vote_type = "approve" if kind == "edit" else kind
    vote = Vote(
        type=vote_type, by=by, at=now, revision=action.revision, message=message, answer=answer
    )  # fmt: skip
    new_votes, agreeing, is_enough = count_vote(action.votes, vote, action.route.reviewers)
    if not is_enough:
        return action.model_copy(update={"votes": new_votes})
    if len(agreeing) == 1:  # one person is enough, so this is the decision and not a vote
        new_votes = new_votes[:-1]
    elif vote_type in NEGATIVE:
        message = "\n".join(dict.fromkeys(v.message for v in agreeing if v.message)) or None
    if vote_type == "approve":
        kind = "edit" if action.edits else kind
    decision = Decision(
        type=kind,
        by=by,
        at=now,
        revision=action.revision,
        args_hash=action.args_hash,
        message=message,
        name=action.name if action.name != action.request.name else None,
        answer=answer,
    )
    return action.model_copy(update={"votes": new_votes, "decision": decision})


def check_others_can_approve(review: Review, action: Action, name: str) -> None:
    """Raises Refused if the edited action waits for other people, and nobody could approve it."""
    if "approve" not in action.config.allowed_decisions:
        raise Refused(
            "not_allowed",
            f"Other people must approve this {name}, but its rule doesn't allow “approve”.",
        )
    if find_unreachable_quorum(action.route, excluded_keys(review, action)):
        raise Refused(
            "not_allowed", f"Others had to approve this {name}, and too few are left who may."
        )
