"""Who may decide, who voted, and who is still needed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from hitl_core.model import Action, Grant, Reviewers, person_key
from hitl_core.model import Vote as Answered
from hitl_core.review import vote_count

from .. import text
from .model import Deciders
from .values import PeopleRefs, Progress, Rejection, VoteGroup

MAX_MESSAGE = 500

T = TypeVar("T")


def people_of(grants: Iterable[Grant]) -> PeopleRefs:
    """Everybody who may decide by one of these grants."""
    return merge_people(
        PeopleRefs(
            grant.reviewers.users,
            grant.reviewers.groups,
            grant.places if grant.includes_members else (),
        )
        for grant in grants
    )


def merge_people(several: Iterable[PeopleRefs]) -> PeopleRefs:
    people = tuple(several)
    return PeopleRefs(
        _unique(user for one in people for user in one.users),
        _unique(group for one in people for group in one.groups),
        _unique(place for one in people for place in one.members_of),
    )


def deciders_of(
    waiting: Sequence[Action], numbers: dict[str, int], requester: str | None
) -> tuple[Deciders, ...]:
    """One entry for all actions that have the same deciders."""
    groups: dict[tuple[PeopleRefs, int, str | None], list[int]] = {}
    for action in waiting:
        rule = action.route.reviewers
        but = requester if rule.exclude_requester else None
        same = people_of(action.grants), rule.quorum, but and text.one_line(but)
        groups.setdefault(same, []).append(numbers[action.key])
    return tuple(
        Deciders(() if len(groups) == 1 else tuple(of), people, quorum, but)
        for (people, quorum, but), of in groups.items()
    )


def progress_of(action: Action, requester: str | None) -> Progress | None:
    """The votes so far; None if one person is enough."""
    rule = action.route.reviewers
    if rule.quorum == rule.reject_quorum == 1:
        return None
    rejected = [vote for vote in action.votes if vote.type == "reject"]
    needed_people = still_needed(action, requester)
    return Progress(
        approved=tuple(vote.by for vote in action.approvals),
        quorum=rule.quorum,
        rejected=tuple(Rejection(vote.by, message_of(vote.message)) for vote in rejected),
        reject_quorum=rule.reject_quorum,
        still_needed=needed_people,
        is_partial=needed_people != people_of(action.grants),
        editor=action.edits[-1].by if action.edits and not rule.editor_approves else None,
        other_votes=vote_groups([vote for vote in action.votes if _has_statement(vote)], rule),
    )


def vote_groups(votes: Sequence[Answered], rule: Reviewers) -> tuple[VoteGroup, ...]:
    """Votes that agree, grouped, in the order of the first vote of each group."""
    groups = list[VoteGroup]()
    for at, vote in enumerate(votes):
        if vote.type == "reject" or any(vote.agrees_with(earlier) for earlier in votes[:at]):
            continue
        by = tuple(one.by for one in votes if one.agrees_with(vote))
        groups.append(
            VoteGroup(vote.type, by, vote_count.quorum_for(rule, vote.type), _answer_text(vote))
        )
    return tuple(groups)


def _has_statement(vote: Answered) -> bool:
    """Whether the vote says more than "approve": another kind, or an answer."""
    return vote.type in ("respond", "ignore") or _answer_text(vote) is not None


def _answer_text(vote: Answered) -> str | None:
    answer = vote.answer
    if vote.type == "respond" or answer is None or isinstance(answer, bool):
        return message_of(vote.message) if vote.type == "respond" else None
    return message_of(text.format_value(answer))


def still_needed(action: Action, requester: str | None) -> PeopleRefs:
    """Those who may decide, without those who can't any more: who approved already, an excluded requester,
    and the editor of this revision if an edit is not an approval.
    """
    people, rule = people_of(action.grants), action.route.reviewers
    out = [vote.by for vote in action.approvals]
    if action.edits and not rule.editor_approves:
        out.append(action.edits[-1].by)
    asker = person_key(requester) if rule.exclude_requester and requester else None
    users = tuple(
        user
        for user in people.users
        if person_key(user) != asker and not any(who.is_named(user) for who in out)
    )
    return PeopleRefs(users, people.groups, people.members_of)


def message_of(message: str | None) -> str | None:
    return (
        text.truncate(text.one_line(message), MAX_MESSAGE).text
        if message and message.strip()
        else None
    )


def _unique(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))
