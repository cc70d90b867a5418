"""The parts of cards: arguments, changes, answers, people. Every text in them is visible text (see
`bot/text`), and none of it is markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hitl_core.model import Place, Reviewer

from .spans import Line

#: On the line of its label, in a quote, or in a code block.
ValueStyle = Literal["line", "quote", "code"]


@dataclass(frozen=True)
class Argument:
    """One argument with its visible value. `language` is that of the code. `host`: the value is an address
    with this host. `is_declared`: a schema has it; else its label is the agent's. `above` is a line of ours.
    `warnings` are about the value and its name, where each value has its own.
    """

    label: str
    value: str
    style: ValueStyle = "line"
    language: str | None = None
    host: str = ""
    is_declared: bool = True
    above: str = ""
    warnings: tuple[Line, ...] = ()


@dataclass(frozen=True)
class ArgumentsExcerpt:
    """The arguments of one call, cut to fit. A cut is marked in the text. `missing` of `size` characters are
    not shown; `omitted_count` arguments are not shown at all, and `omitted` are the labels of the first of
    them; `cut` are those of which only a part is shown. `weight` is what is shown, as markup counts it.
    `has_hidden`: some values are hidden from everybody.
    """

    arguments: tuple[Argument, ...]
    missing: int
    omitted_count: int
    size: int
    weight: int
    has_hidden: bool
    omitted: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallValue:
    """One argument as far as it fits into a cell of a table. `path` (see `Row`) says which: the labels of two
    arguments may look the same. Two values are the same if their `raw` is, and none of them `has_hidden`
    parts.
    """

    path: tuple[str, ...]
    label: str
    raw: str
    text: str
    is_whole: bool
    has_hidden: bool = False


@dataclass(frozen=True)
class TableRow:
    """One action of a table. `is_whole`: with the lines above the table it shows all arguments."""

    key: str
    cells: tuple[Line, ...]
    is_whole: bool


@dataclass(frozen=True)
class ActionTable:
    """Many actions, each in one row. `common` is what all of them have in common, one line for each tool.
    `more` actions have no row. `cut` are the keys of the actions that are not shown completely.
    """

    common: tuple[Line, ...]
    head: tuple[str, ...]
    rows: tuple[TableRow, ...]
    more: int
    cut: frozenset[str]


@dataclass(frozen=True)
class AgentReason:
    """Why `agent` wants a call, in its own words, on one line. `missing` characters are cut. `numbers`: all
    actions that it is about, if they are several.
    """

    agent: str
    text: str
    missing: int = 0
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Change:
    """One argument that an edit changed: only the part that differs. None if the argument is absent."""

    label: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Attempt:
    """An action that follows a rejected call of its tool. `number`: 2 or more. `changes` are the first ones
    from the rejected call to this one; `also_changed` are the labels of the others. `by` rejected it,
    `message` is their reason.
    """

    number: int
    changes: tuple[Change, ...]
    also_changed: tuple[str, ...]
    by: tuple[Reviewer, ...]
    message: str | None


@dataclass(frozen=True)
class Edit:
    """One edit. `tool` is the new tool, if the edit changed it. `more_changes` counts the changes that are
    not in `changes`. `new_rule` is a sentence about the rule that the edit falls under, if that changed.
    """

    by: Reviewer
    changes: tuple[Change, ...]
    more_changes: int
    tool: str | None
    new_rule: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a call that was to run. `text` of a `result` are the words of the tool or of its agent;
    of a `note`, our own. `by` said what happened to the call `name`, of which nobody knew whether it ran.
    """

    kind: Literal["result", "note", "paused", "ran", "skipped", "rerun"]
    name: str
    text: str = ""
    by: Reviewer | None = None


@dataclass(frozen=True)
class Choice:
    """One answer that a question offers, and its JSON value. `is_own_label`: the label is our own text."""

    label: str
    answer: Any
    is_own_label: bool = False


@dataclass(frozen=True)
class PeopleRefs:
    """A set of people: a channel's ids of people and groups, and the members of places."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    members_of: tuple[Place, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.users or self.groups or self.members_of)


NOBODY = PeopleRefs()


@dataclass(frozen=True)
class Origin:
    """Who requested it, through which agents, and from which conversation."""

    requester: str | None
    path: tuple[str, ...]
    thread: str
    conversation: Place | None


@dataclass(frozen=True)
class Rejection:
    """One of several rejections that are needed."""

    by: Reviewer
    message: str | None


@dataclass(frozen=True)
class VoteGroup:
    """People who voted for the same; `needed` votes are required. `message` is their common
    answer, or why.
    """

    kind: Literal["approve", "respond", "ignore", "ran", "rerun", "skip", "cancel"]
    by: tuple[Reviewer, ...]
    needed: int
    message: str | None


@dataclass(frozen=True)
class Progress:
    """The votes on an action that needs several people, and who is still needed. `is_partial`: those are not
    all who may decide. `editor` made this revision and can't approve it. `other_votes` are for an answer or a
    skip.
    """

    approved: tuple[Reviewer, ...]
    quorum: int
    rejected: tuple[Rejection, ...]
    reject_quorum: int
    still_needed: PeopleRefs
    is_partial: bool
    editor: Reviewer | None
    other_votes: tuple[VoteGroup, ...] = ()


@dataclass(frozen=True)
class NextStep:
    """The next escalation step. It happens at `at`, which is `after` seconds after its timer starts (None
    while the timer waits for the card), or at once by the button. `taken` counts the steps before it.
    """

    to: Place
    at: float | None
    after: float
    taken: int


@dataclass(frozen=True)
class Deadline:
    """The nearest deadline (times as in NextStep), and its decision. `name`: the tool, if they differ."""

    at: float | None
    after: float
    decision: Literal["reject", "respond", "ignore"]
    name: str | None
