"""The values of a card. Every text in them is fit to be read (`bot.text`), and none of it is markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hitl_core.model import DecisionType, MessageRef, Place, Reviewer

from .values import NOBODY, ArgumentsExcerpt, Choice, Edit, PeopleRefs, Progress, VoteGroup


@dataclass(frozen=True)
class Deciders:
    """Who may decide on these actions, by their numbers; on all that wait where it names none. `quorum` of
    them must approve; `but` is the requester, where they can't.
    """

    numbers: tuple[int, ...]
    people: PeopleRefs
    quorum: int
    excluded_requester: str | None


@dataclass(frozen=True)
class ActionLine:
    """An action that waits, on one line. `fact` is the main thing that its arguments say."""

    key: str
    revision: int
    number: int
    name: str
    fact: str
    has_warnings: bool
    progress: Progress | None


@dataclass(frozen=True)
class OpenAction:
    """An action with everything that will run, and the answers that are allowed. `seal` is that of the review
    for what is shown here.

    `why` is the policy's description, "" where it says nothing of its own, or what the agent says of it
    (`by_agent`), and `rule` which one asks; `title` what the agent's own system calls it. `choices` are the
    answers to a question, `asks` where it is one. `confirm`: Approve asks once more. `must_read`: not all of
    it is shown here, and who approves must have opened it. `decided` is set where nothing of it is open any
    more.
    """

    key: str
    revision: int
    seal: str
    number: int
    name: str
    title: str
    why: str
    by_agent: bool
    rule: str
    fact: str
    excerpt: ArgumentsExcerpt
    warnings: tuple[str, ...]
    allowed: tuple[DecisionType, ...]
    is_question: bool
    choices: tuple[Choice, ...]
    confirm: bool
    must_read: bool
    edits: tuple[Edit, ...]
    progress: Progress | None
    decided: DecisionLine | None = None


@dataclass(frozen=True)
class Doubt:
    """A call that may or may not have run: its process died in between. `quorum` people must say that it ran,
    or to run it again; `but` is the requester, where they can't. `said` is what some said so far.
    """

    key: str
    attempt: int
    seal: str
    name: str
    excerpt: ArgumentsExcerpt
    quorum: int
    excluded_requester: str | None
    votes: tuple[VoteGroup, ...]


@dataclass(frozen=True)
class DecisionLine:
    """One quiet line: what was decided, by whom, and what came of it. `by` are those who had a say, the last
    one last; nobody where it was the deadline, or an agent that cancels. `moved`: an edit by this person fell
    under another rule, and what waits is no longer decided here. `number` and `which` tell it from others of
    one tool: the number on the card, and an argument that differs.
    """

    key: str
    revision: int
    name: str
    type: DecisionType | Literal["allow", "cancel", "moved"]
    by: tuple[Reviewer, ...]
    message: str | None
    edits: tuple[Edit, ...]
    result: str | None
    result_by: Reviewer | None
    number: int | None = None
    distinct_argument: str = ""


@dataclass(frozen=True)
class DecidedElsewhere:
    """An action of the same review that was decided before it could be shown here."""

    name: str
    type: DecisionType
    by: Reviewer | None


@dataclass(frozen=True)
class EscalationNote:
    """One place more: from where, by a person's hand or (None) by time, and why. `fallback`: it could not be
    shown where it should.
    """

    to: Place
    origin: tuple[Place, ...]
    at: float
    by: Reviewer | None
    why: str | None
    fallback: bool


@dataclass(frozen=True)
class PlaceProblem:
    """What waits at a place where it can't be shown, by its numbers (none where it is all of the review), why
    and since when. `here`: it is shown at this very place, and not all could be looked up.
    `too_few`: it is shown, and too few people are left who may approve it.
    """

    numbers: tuple[int, ...]
    place: Place
    why: str
    since: float
    is_here: bool
    too_few: bool = False


@dataclass(frozen=True)
class NextStep:
    """The next step: by a button now, by itself at `at`, which is `after` seconds from when its clock starts;
    None while that waits for the card. `taken` counts those before it.
    """

    to: Place
    at: float | None
    after: float
    taken: int


@dataclass(frozen=True)
class Deadline:
    """The nearest deadline, as in Next, and what the policy decides then; `name` is the tool, where they
    differ.
    """

    at: float | None
    after: float
    decision: Literal["reject", "respond", "ignore"]
    name: str | None


@dataclass(frozen=True)
class Origin:
    """On whose behalf, through which agents, from where."""

    requester: str | None
    path: tuple[str, ...]
    thread: str
    conversation: Place | None


@dataclass(frozen=True)
class Card:
    """`summary` is the notification: a full sentence. `waiting` are all that wait; `open` are they with
    everything, none of them where they are too many for one message.

    `turns` are the keys of all actions here, in the order in which they can be read one by one.
    `approve_all` are the keys and revisions that one button may approve, `seal` that of all of them;
    `confirm_all`: it asks once more.
    `cancels` is who wants to cancel all of it, where that takes several. `called` are those whom an
    escalation calls, `first` the message that it came from. `took` is how long deciding took, in seconds,
    None while something waits or where a doubt was settled.
    """

    review_id: str
    place: Place
    origin: Origin
    title: str
    summary: str
    warnings: tuple[str, ...]
    open_actions: tuple[OpenAction, ...]
    waiting: tuple[ActionLine, ...]
    page_keys: tuple[str, ...]
    approve_all: tuple[tuple[str, int], ...]
    seal: str
    confirm_all: bool
    doubts: tuple[Doubt, ...]
    decision_lines: tuple[DecisionLine, ...]
    elsewhere: tuple[DecidedElsewhere, ...]
    cancel_votes: tuple[VoteGroup, ...]
    escalation_people: PeopleRefs
    first_message: MessageRef | None
    notes: tuple[EscalationNote, ...]
    place_problems: tuple[PlaceProblem, ...]
    next_step: NextStep | None
    deadline: Deadline | None
    decision_time: float | None
    deciders: tuple[Deciders, ...]


@dataclass(frozen=True)
class ThreadLine:
    """What is told below a card: an edit, a rejection with its reason, who is reminded, where it went.

    `names` are the tools it is about. `to` is where it was passed on to, `why` a person's words, `people` who
    is still asked.
    """

    at: float
    kind: Literal["edited", "rejected", "reminded", "escalated"]
    names: tuple[str, ...]
    by: tuple[Reviewer, ...] = ()
    edit: Edit | None = None
    why: str | None = None
    to: Place | None = None
    fallback: bool = False
    people: PeopleRefs = NOBODY
