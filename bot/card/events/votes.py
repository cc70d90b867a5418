"""Votes on an action that needs several people, on a call in doubt, and on a cancellation. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hitl_core.model import Action, Call, Review, Reviewers, person_key
from hitl_core.model import Vote as Answered
from hitl_core.review import (
    hides_options,
    message_of_answer,
    vote_count,
)

from ... import text
from ..arguments import (
    argument_rows,
    arguments_excerpt,
    format_value,
    main_fact,
    mask,
    mask_action,
)
from ..model import Doubt, PeopleRefs, Progress, Rejection, VoteGroup
from ..people import people_of
from ..warnings import call_warnings

MAX_MESSAGE = 500


def make_progress(review: Review, action: Action) -> Progress:
    """The votes so far, on an action that needs several people."""
    rule = action.route.reviewers
    rejected = [vote for vote in action.votes if vote.type == "reject"]
    needed_people = still_needed(action, review.requester)
    return Progress(
        approved=tuple(vote.by for vote in action.approvals),
        quorum=rule.quorum,
        rejected=tuple(Rejection(vote.by, message_of(vote.message)) for vote in rejected),
        reject_quorum=rule.reject_quorum,
        still_needed=needed_people,
        is_partial=needed_people != people_of(action.grants),
        editor=action.edits[-1].by if action.edits and not rule.editor_approves else None,
        other_votes=_answer_groups(review, action),
    )


def _answer_groups(review: Review, action: Action) -> tuple[VoteGroup, ...]:
    votes = [vote for vote in action.votes if _has_statement(vote)]
    groups = vote_groups(votes, action.route.reviewers)
    if not hides_options(review, action):
        return groups
    hidden = message_of_answer(review, action, True, None)
    return tuple(each if each.message is None else replace(each, message=hidden) for each in groups)


def vote_groups(votes: Sequence[Answered], rule: Reviewers) -> tuple[VoteGroup, ...]:
    """The votes in groups that agree, in the order of the first vote of each group."""
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
    return message_of(format_value(answer))


def still_needed(action: Action, requester: str | None) -> PeopleRefs:
    """The people who may decide, without those who can no longer: those who have approved, an excluded
    requester, and the editor of this revision if an edit is not an approval.
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


def make_doubt(review: Review, call: Call) -> Doubt:
    action, args = review.action(call.key), review.arguments(call.key).parse()
    masked = mask_action(action, args) if action else mask(args, None, call.redact)
    excerpt = arguments_excerpt(masked, argument_rows(masked))
    run, rule = review.runs[call.key], action.route.reviewers if action else Reviewers()
    return Doubt(
        key=call.key,
        revision=action.revision if action else 1,
        attempt=run.attempt,
        seal=review.seal(call.key, is_whole=not excerpt.missing),
        name=review.tool_name(call),
        fact=main_fact(masked),
        excerpt=excerpt,
        quorum=rule.quorum,
        excluded_requester=text.one_line(review.requester or "")
        if rule.exclude_requester
        else None,
        votes=vote_groups(run.votes, rule),
        warnings=call_warnings(masked).lines,
    )


def cancel_votes_of(review: Review) -> tuple[VoteGroup, ...]:
    if not review.cancel_votes or review.cancelled:
        return ()
    whys = dict.fromkeys(vote.message for vote in review.cancel_votes if vote.message)
    most = max(action.route.reviewers.reject_quorum for action in review.actions)
    return (
        VoteGroup(
            "cancel", tuple(v.by for v in review.cancel_votes), most, message_of("; ".join(whys))
        ),
    )
