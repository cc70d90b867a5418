"""How many people must say the same before it counts, and whose word counts. One rule for all that people
decide: on an action, on a call in doubt, on a whole review. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from hitl_core.errors import Refused
from hitl_core.model import CLI, Action, DoubtAnswer, Review, Reviewer, Reviewers, Vote
from hitl_core.review.transition import join_names

VoteType = Literal["approve", "reject", "respond", "ignore"] | DoubtAnswer

#: After these the tool does not run, and the agent is not told that it did. Everything else runs the call, or
#: stands in the place of its result.
NEGATIVE: frozenset[VoteType] = frozenset({"reject", "ignore", "skip"})
_PAST = {
    "approve": "approved",
    "reject": "rejected",
    "respond": "answered",
    "ignore": "skipped",
}
LAST_VOTE_FROM_CHAT = (
    "Others said the same in the chat, and only there is it looked up whether they may still decide. So the"
    " last vote has to come from there. Nothing was changed."
)
_VERBS = {"approve": "approve", "respond": "answer"}


class VoteCount(NamedTuple):
    """The votes with this one, and those of them that say the same; `enough` of them decide."""

    votes: tuple[Vote, ...]
    agreeing: tuple[Vote, ...]
    is_enough: bool


def quorum_for(reviewers: Reviewers, vote_type: VoteType) -> int:
    """How many people it takes."""
    return reviewers.reject_quorum if vote_type in NEGATIVE else reviewers.quorum


def count_vote(votes: Sequence[Vote], vote: Vote, reviewers: Reviewers) -> VoteCount:
    """One vote a person: a newer one replaces the older. Raises Refused where this person said so already, or
    where a command line's vote would be the last one after some of a chat: whether those people may still
    decide is looked up only there.
    """
    if any(one.by.key == vote.by.key and one.agrees_with(vote) for one in votes):
        raise Refused("already_voted", _repeat_message(vote.type))
    after = (*(one for one in votes if one.by.key != vote.by.key), vote)
    agreed = tuple(one for one in after if one.agrees_with(vote))
    enough = len(agreed) >= quorum_for(reviewers, vote.type)
    if enough and vote.by.channel == CLI and any(one.by.channel != CLI for one in agreed):
        raise Refused("not_permitted", LAST_VOTE_FROM_CHAT)
    return VoteCount(after, agreed, enough)


def excluded_ids(review: Review, action: Action) -> frozenset[str]:
    """The ids of those whom the rule lets approve nothing: the requester, and who made the newest edit."""
    reviewers, out = action.route.reviewers, set[str]()
    if reviewers.exclude_requester:
        out.add((review.requester or "").removeprefix("slack:"))
    if action.edits and not reviewers.editor_approves:
        out.add(action.edits[-1].by.id)
    return frozenset(out)


def check_not_excluded(review: Review, action: Action, vote_type: VoteType, by: Reviewer) -> None:
    """Raises Refused where the rule leaves this person out. To a no nobody is left out."""
    if vote_type in NEGATIVE:
        return
    reviewers, verb = action.route.reviewers, _VERBS.get(vote_type, "decide")
    if reviewers.exclude_requester and by.id == (review.requester or "").removeprefix("slack:"):
        raise Refused(
            "requester", f"The agent asks on your behalf, so another person has to {verb} this."
        )
    mine = bool(action.edits) and action.edits[-1].by.key == by.key
    if mine and vote_type != "respond" and not reviewers.editor_approves:
        raise Refused(
            "own_edit", f"You made this edit yourself, so another person has to {verb} it."
        )


def drop_votes(
    votes: Sequence[Vote], ineligible_voters: Collection[str]
) -> tuple[tuple[Vote, ...], str | None]:
    """The votes without those of people who may decide no more, by their keys, and a note of it."""
    void = [vote.by for vote in votes if vote.by.key in ineligible_voters]
    if not void:
        return tuple(votes), None
    remaining = tuple(vote for vote in votes if vote.by not in void)
    return remaining, f"(Without {join_names(who.label for who in void)}, who may decide no more.)"


def _repeat_message(vote_type: VoteType) -> str:
    start = f"You {_PAST[vote_type]} this already" if vote_type in _PAST else "You said so already"
    return f"{start}. Another person has to."
