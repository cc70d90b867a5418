"""Who may decide, who has, and who is still asked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot import text
from bot.card.model import Deciders
from bot.card.parts import People, Progress, Said, Vote
from hitl_core.model import Action, Grant, Reviewers
from hitl_core.model import Vote as Answered
from hitl_core.review import tally

MAX_MESSAGE = 500


def called(grants: Iterable[Grant]) -> People:
    """Everybody who may decide by one of these."""
    return joined(
        People(
            grant.reviewers.users,
            grant.reviewers.groups,
            grant.places if grant.by_membership else (),
        )
        for grant in grants
    )


def joined(several: Iterable[People]) -> People:
    known = tuple(several)
    return People(
        _each(user for one in known for user in one.users),
        _each(group for one in known for group in one.groups),
        _each(place for one in known for place in one.members_of),
    )


def deciders_of(
    waiting: Sequence[Action], numbers: dict[str, int], requester: str | None
) -> tuple[Deciders, ...]:
    """One for all that ask the same people."""
    found: dict[tuple[People, int, str | None], list[int]] = {}
    for action in waiting:
        rule = action.route.reviewers
        but = requester if rule.exclude_requester else None
        same = called(action.grants), rule.quorum, but and text.one_line(but)
        found.setdefault(same, []).append(numbers[action.key])
    return tuple(
        Deciders(() if len(found) == 1 else tuple(of), people, quorum, but)
        for (people, quorum, but), of in found.items()
    )


def progress_of(action: Action, requester: str | None) -> Progress | None:
    """None where one person's word is enough."""
    rule = action.route.reviewers
    if rule.quorum == rule.reject_quorum == 1:
        return None
    rejected = [vote for vote in action.votes if vote.type == "reject"]
    asked = still_asked(action, requester)
    return Progress(
        approved=tuple(vote.by for vote in action.approvals),
        quorum=rule.quorum,
        rejected=tuple(Vote(vote.by, message_of(vote.message)) for vote in rejected),
        reject_quorum=rule.reject_quorum,
        asked=asked,
        fewer=asked != called(action.grants),
        editor=action.edits[-1].by if action.edits and not rule.editor_approves else None,
        said=said_of([vote for vote in action.votes if _is_said(vote)], rule),
    )


def said_of(votes: Sequence[Answered], rule: Reviewers) -> tuple[Said, ...]:
    """Those who say the same together, in the order in which they began."""
    found = list[Said]()
    for at, vote in enumerate(votes):
        if vote.type == "reject" or any(vote.agrees(earlier) for earlier in votes[:at]):
            continue
        by = tuple(one.by for one in votes if one.agrees(vote))
        found.append(Said(vote.type, by, tally.wanted(rule, vote.type), _answer(vote)))
    return tuple(found)


def _is_said(vote: Answered) -> bool:
    """An approval with an answer that is more than yes says which."""
    return vote.type in ("respond", "ignore") or _answer(vote) is not None


def _answer(vote: Answered) -> str | None:
    given = vote.answer
    if vote.type == "respond" or given is None or isinstance(given, bool):
        return message_of(vote.message) if vote.type == "respond" else None
    return message_of(text.shown_value(given))


def still_asked(action: Action, requester: str | None) -> People:
    """Those who may decide, without whom it can't be: who approved already, the requester where excluded,
    and who edited this revision where that is no approval.
    """
    people, rule = called(action.grants), action.route.reviewers
    out = {vote.by.id for vote in action.approvals}
    if rule.exclude_requester and requester:
        out.add(requester.removeprefix("slack:"))
    if action.edits and not rule.editor_approves:
        out.add(action.edits[-1].by.id)
    users = tuple(user for user in people.users if user not in out)
    return People(users, people.groups, people.members_of)


def message_of(told: str | None) -> str | None:
    return text.cut(text.one_line(told), MAX_MESSAGE).text if told and told.strip() else None


def _each(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))
