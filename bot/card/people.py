"""The people on a card, as values and in words: who may decide, who asked, voted, or is still needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from hitl_core.model import Action, Grant, Place, Reviewer, split_id
from hitl_core.sentences import join_names

from .. import text
from .model import (
    Deciders,
    Doubt,
    Group,
    Line,
    PeopleRefs,
    Person,
    PlaceNames,
    Progress,
    Quote,
    Span,
    Text,
    VoteGroup,
    join_lines,
    quote,
)

#: The most groups of deciders in one footer.
MAX_DECIDERS = 3

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


def person(reviewer: Reviewer) -> Person:
    return Person(reviewer.id, text.one_line(reviewer.label), reviewer.channel)


def decider(reviewer: Reviewer | None) -> Span:
    return Text("the policy") if reviewer is None else person(reviewer)


def people_line(reviewers: Iterable[Reviewer]) -> Line:
    return join_lines([(person(one),) for one in reviewers])


def requester(id: str, most: int = 500) -> Person:
    """The requester. The agent gives this id, so a channel checks that it is an id. `most`: the most
    characters of its text, which the label quotes as the agent's.
    """
    channel, known_id = split_id(id)
    label = f"{quote(text.clip(id, most))} (named by the agent)"
    return Person(known_id, label, channel, is_claimed=True)


def people(refs: PeopleRefs, names: PlaceNames, *, either: str = "and") -> Line:
    """All people and groups of a policy, and the names of places for their members; () if there is nobody."""
    each = {one.id: one for one in map(_policy_person, refs.users)}
    each |= {one.id: one for one in map(_policy_group, refs.groups) if one.id not in each}
    conversations: list[Place] = []
    for place in refs.members_of:
        if names.is_conversation(place):
            conversations.append(place)
        else:
            single = _policy_person(place)
            each.setdefault(single.id, replace(single, label=names.name_of(place)))
    lines: list[Line] = [(one,) for one in each.values()]
    if conversations:
        known = join_lines([(names.span(place),) for place in conversations], either)
        lines.append((Text("members of "), *known))
    return join_lines(lines, either)


def may_decide(deciders: Sequence[Deciders], names: PlaceNames, *, counts: bool) -> Line:
    """Who may decide on which actions; () if nothing is left to decide. `counts`: also how many of them must
    approve, where no action says it itself.
    """
    line: list[Span] = []
    for one in deciders[:MAX_DECIDERS]:
        who = people(one.people, names) or (Text("Nobody"),)
        of = f" on number {join_names(map(str, one.numbers))}" if one.numbers else ""
        line += [Text(" ")] if line else []
        line += [*_capitalize(who), Text(f" may decide{of}.")]
        if counts and one.quorum > 1:
            line.append(Text(f" {one.quorum} of them must approve."))
        if one.excluded_requester:
            line += _exclusion(one.excluded_requester, "approve it")
    if len(deciders) > MAX_DECIDERS:
        line.append(Text(" Other people decide on the other actions."))
    return tuple(line)


def doubt_quorum(doubt: Doubt) -> Line:
    """How many people must say what happened to a call; () if one is enough."""
    line: list[Span] = []
    if doubt.quorum > 1:
        line.append(Text(f"{doubt.quorum} people must say that it ran, or to run it again."))
    if doubt.excluded_requester:
        excluded = _exclusion(doubt.excluded_requester, "be one of them")
        line += excluded if line else excluded[1:]
    return tuple(line)


def _exclusion(id: str, what: str) -> Line:
    return (Text(" "), requester(id), Text(f" asked for it and can't {what}."))


def _capitalize(line: Line) -> Line:
    first, *rest = line
    if isinstance(first, Text):
        first = Text(first.text[:1].upper() + first.text[1:])
    return (first, *rest)


def _policy_person(id: str) -> Person:
    channel, known_id = split_id(id)
    return Person(known_id, id, channel)


def _policy_group(id: str) -> Group:
    channel, known_id = split_id(id)
    return Group(known_id, id, channel)


#: The most reasons of rejections, and groups of votes for something else.
MAX_REASONS = 5
MAX_STATEMENTS = 4

_STATEMENT_TEXTS = {
    "approve": "to run it with this answer",
    "respond": "to answer instead of running it",
    "ignore": "to skip it",
    "ran": "to say that it ran",
    "rerun": "to run it again",
    "skip": "to go on without it",
    "cancel": "to cancel the whole review",
}


def vote_lines(progress: Progress, names: PlaceNames) -> tuple[Line, ...]:
    """Who approved, who rejected and why, who wants another answer, and who is still needed."""
    lines = [_progress_line(progress, names)]
    if progress.rejected:
        count = Text(f"{len(progress.rejected)} of {progress.reject_quorum} rejections: ")
        lines.append((count, *people_line(vote.by for vote in progress.rejected), Text(".")))
        reasons = [vote.message for vote in progress.rejected if vote.message]
        lines += [(Quote(reason),) for reason in reasons[:MAX_REASONS]]
    return (*lines, *statement_lines(progress.other_votes))


def statement_lines(votes: Sequence[VoteGroup]) -> tuple[Line, ...]:
    """Who wants what, how many are needed, and the text on which they agree."""
    lines: list[Line] = []
    for one in votes[:MAX_STATEMENTS]:
        count = f"{len(one.by)} of {one.needed} want {_STATEMENT_TEXTS[one.kind]}: "
        lines.append((Text(count), *people_line(one.by), Text(".")))
        lines += [(Quote(one.message),)] if one.message else []
    return tuple(lines)


def vote_count(progress: Progress) -> str:
    return f"{len(progress.approved)} of {progress.quorum} approvals"


def vote_counts(progress: Progress) -> str:
    """The votes so far, for a list: the approvals, and the rejections if there are any."""
    if not progress.rejected:
        return vote_count(progress)
    rejections = f"{len(progress.rejected)} of {progress.reject_quorum} rejections"
    is_open = progress.approved or progress.quorum > 1
    return f"{vote_count(progress)}, {rejections}" if is_open else rejections


def _progress_line(progress: Progress, names: PlaceNames) -> Line:
    """Omits the names that the footer shows anyway."""
    by: list[Span] = []
    if progress.is_partial and (others := people(progress.still_needed, names, either="or")):
        by += [Text(" by "), *others]
    if progress.editor:
        by += [Text(", not by "), person(progress.editor), Text(", who made the edit")]
    missing = progress.quorum - len(progress.approved)
    if not progress.approved:
        return (Text(f"Needs {missing} approval{'s' * (missing != 1)}"), *by, Text("."))
    who = people_line(progress.approved)
    # Whether earlier voters may still decide is only known when the next person votes.
    still = f". Still needed: at least {missing}"
    return (Text(f"{vote_count(progress)}: "), *who, Text(still), *by, Text("."))


def _unique(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))
