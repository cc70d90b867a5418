"""What cards are made of: arguments, changes, answers, people. Every text in them is fit to be read
(`bot.text`), and none of it is markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hitl_core.model import Place, Reviewer


@dataclass(frozen=True)
class Argument:
    """One argument: its name, and its value as people read it; `block` stands on lines of its own."""

    label: str
    value: str
    block: bool


@dataclass(frozen=True)
class ArgumentsExcerpt:
    """The arguments of one call as far as there is room. What is cut says so where it is cut; `missing`
    counts the characters that are not shown of `size`, `left_out` the arguments of which nothing is. `hides`:
    some values are hidden from everybody.
    """

    arguments: tuple[Argument, ...]
    missing: int
    omitted_count: int
    size: int
    has_hidden: bool


@dataclass(frozen=True)
class Change:
    """One argument that an edit changed: the part of it that differs. None where it was or is absent."""

    label: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Edit:
    """What one edit changed. `tool` is the one that it names in place of the one asked for; `more_changes`
    counts those that are not told. `falls` is a sentence of ours on the rule that it falls under, where that
    is another than before, or None.
    """

    by: Reviewer
    changes: tuple[Change, ...]
    more_changes: int
    tool: str | None
    new_rule: str | None = None


@dataclass(frozen=True)
class Choice:
    """One answer that a question offers, and the JSON value that it stands for. `ours`: we call it so."""

    label: str
    answer: Any
    is_own_label: bool = False


@dataclass(frozen=True)
class PeopleRefs:
    """Who is meant: a channel's own ids of people and groups, and the members of these places."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    members_of: tuple[Place, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.users or self.groups or self.members_of)


NOBODY = PeopleRefs()


@dataclass(frozen=True)
class Rejection:
    """One rejection of those that it takes."""

    by: Reviewer
    message: str | None


@dataclass(frozen=True)
class VoteGroup:
    """What some people want, of those that it takes: `message` is the answer that they agree on, or why."""

    kind: Literal["approve", "respond", "ignore", "ran", "rerun", "skip", "cancel"]
    by: tuple[Reviewer, ...]
    needed: int
    message: str | None


@dataclass(frozen=True)
class Progress:
    """How far it got where one person is not enough, and who is still asked; `fewer`: they are not all who
    may decide. `editor` made this revision, and can't approve it. `said` is what else some want: an answer of
    their own, or to skip it.
    """

    approved: tuple[Reviewer, ...]
    quorum: int
    rejected: tuple[Rejection, ...]
    reject_quorum: int
    still_needed: PeopleRefs
    is_partial: bool
    editor: Reviewer | None
    other_votes: tuple[VoteGroup, ...] = ()
