"""How many people must say the same before it counts, and whose word counts. One rule for all that people
decide: on an action, on a call in doubt, on a whole review. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from hitl_core.errors import Refused
from hitl_core.model import CLI, Action, DoubtAnswer, Review, Reviewer, Reviewers, Vote
from hitl_core.review.changed import joined

Says = Literal["approve", "reject", "respond", "ignore"] | DoubtAnswer

#: After these the tool does not run, and the agent is not told that it did. Everything else runs the call, or
#: stands in the place of its result.
NO: frozenset[Says] = frozenset({"reject", "ignore", "skip"})
_PAST = {
    "approve": "approved",
    "reject": "rejected",
    "respond": "answered",
    "ignore": "skipped",
}
LAST = (
    "Others said the same in the chat, and only there is it looked up whether they may still decide. So the"
    " last vote has to come from there. Nothing was changed."
)
_VERBS = {"approve": "approve", "respond": "answer"}


class Count(NamedTuple):
    """The votes with this one, and those of them that say the same; `enough` of them decide."""

    votes: tuple[Vote, ...]
    agreed: tuple[Vote, ...]
    enough: bool


def wanted(reviewers: Reviewers, says: Says) -> int:
    """How many people it takes."""
    return reviewers.reject_quorum if says in NO else reviewers.quorum


def count(votes: Sequence[Vote], vote: Vote, reviewers: Reviewers) -> Count:
    """One vote a person: a newer one replaces the older. Raises Refused where this person said so already, or
    where a command line's vote would be the last one after some of a chat: whether those people may still
    decide is looked up only there.
    """
    if any(one.by.key == vote.by.key and one.agrees(vote) for one in votes):
        raise Refused("already_voted", _again(vote.type))
    after = (*(one for one in votes if one.by.key != vote.by.key), vote)
    agreed = tuple(one for one in after if one.agrees(vote))
    enough = len(agreed) >= wanted(reviewers, vote.type)
    if enough and vote.by.channel == CLI and any(one.by.channel != CLI for one in agreed):
        raise Refused("not_permitted", LAST)
    return Count(after, agreed, enough)


def check_may(review: Review, action: Action, says: Says, by: Reviewer) -> None:
    """Raises Refused where the rule leaves this person out. To a no nobody is left out."""
    if says in NO:
        return
    reviewers, verb = action.route.reviewers, _VERBS.get(says, "decide")
    if reviewers.exclude_requester and by.id == (review.requester or "").removeprefix("slack:"):
        raise Refused(
            "requester", f"The agent asks on your behalf, so another person has to {verb} this."
        )
    mine = bool(action.edits) and action.edits[-1].by.key == by.key
    if mine and says != "respond" and not reviewers.editor_approves:
        raise Refused(
            "own_edit", f"You made this edit yourself, so another person has to {verb} it."
        )


def without(votes: Sequence[Vote], lapsed: Collection[str]) -> tuple[tuple[Vote, ...], str | None]:
    """The votes without those of people who may decide no more, by their keys, and a note of it."""
    void = [vote.by for vote in votes if vote.by.key in lapsed]
    if not void:
        return tuple(votes), None
    kept = tuple(vote for vote in votes if vote.by not in void)
    return kept, f"(Without {joined(who.label for who in void)}, who may decide no more.)"


def _again(says: Says) -> str:
    told = f"You {_PAST[says]} this already" if says in _PAST else "You said so already"
    return f"{told}. Another person has to."
