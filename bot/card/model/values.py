"""The parts of cards: arguments, changes, answers, people. All texts in them are visible text (see
`bot/text`), without markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hitl_core.model import Place, Reviewer

from .spans import Line

#: Where a value is shown: on the line of its label, in a quote, or in a code block.
ValueStyle = Literal["line", "quote", "code"]


@dataclass(frozen=True)
class Argument:
    """One argument with its visible value. `language`: of the code. `host`: the value is an address with this
    host. `is_declared`: a schema declares it; otherwise its label is the agent's. `above`: a line of ours.
    `warnings`: about the value and its name, if each value has its own.
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
    """The arguments of one call, cut to fit. A cut is marked in the text.

    - `missing` of `size` characters are not shown;
    - `omitted_count` arguments are not shown at all; `omitted` are the labels of the first of them;
    - `cut`: those of which only a part is shown;
    - `weight`: the length of what is shown, with its markup;
    - `has_hidden`: some values are hidden from everybody.
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
    """One argument, as much of it as fits into a cell of a table. `path` (see `Row`) identifies it, because
    the labels of two arguments may look the same. Two values are equal if their `raw` is equal and neither
    `has_hidden` parts.
    """

    path: tuple[str, ...]
    label: str
    raw: str
    text: str
    is_whole: bool
    has_hidden: bool = False


@dataclass(frozen=True)
class TableRow:
    """One action of a table. `is_whole`: together with the lines above the table, it shows all arguments."""

    key: str
    cells: tuple[Line, ...]
    is_whole: bool


@dataclass(frozen=True)
class ActionTable:
    """Many actions, each in one row. `common`: what all of them have in common, one line for each tool.
    `more` actions have no row. `cut`: the keys of the actions that are not shown in full.
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
    """An action that follows a rejected call of its tool. `number`: 2 or more. `changes`: the first changes
    from the rejected call to this one; `also_changed`: the labels of the others. `by`: who rejected it;
    `message`: their reason.
    """

    number: int
    changes: tuple[Change, ...]
    also_changed: tuple[str, ...]
    by: tuple[Reviewer, ...]
    message: str | None


@dataclass(frozen=True)
class Edit:
    """One edit. `tool`: the new tool, if the edit changed it. `more_changes`: the number of changes that are
    not in `changes`. `new_rule`: a sentence about the rule that matches the edit, if it is another one.
    """

    by: Reviewer
    changes: tuple[Change, ...]
    more_changes: int
    tool: str | None
    new_rule: str | None = None


@dataclass(frozen=True)
class Outcome:
    """The result of a call that was to run. `text`: for a `result`, the words of the tool or of its agent;
    for a `note`, our own. `by`: who said what happened to the call `name`, if nobody knew whether it ran.
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
    """One of the rejections, if several are needed."""

    by: Reviewer
    message: str | None


@dataclass(frozen=True)
class VoteGroup:
    """People who voted for the same; `needed` votes are required. `message`: their common answer or
    reason.
    """

    kind: Literal["approve", "respond", "ignore", "ran", "rerun", "skip", "cancel"]
    by: tuple[Reviewer, ...]
    needed: int
    message: str | None


@dataclass(frozen=True)
class Progress:
    """The votes on an action that needs several people, and who is still needed. `is_partial`: those who are
    needed are not all who may decide. `editor`: made this revision and can't approve it. `other_votes`: for
    an answer or a skip.
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
