"""The values of a card. All texts in them are visible text (see `bot/text`), without markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hitl_core.model import DecisionType, MessageRef, Place, Reviewer

from .spans import Line
from .values import (
    ActionTable,
    AgentReason,
    ArgumentsExcerpt,
    Attempt,
    CallValue,
    Choice,
    Deadline,
    Edit,
    NextStep,
    Origin,
    Outcome,
    PeopleRefs,
    Progress,
    VoteGroup,
)


@dataclass(frozen=True)
class Deciders:
    """Who may decide on the actions with these numbers; () means all pending actions. `quorum` of them must
    approve. `excluded_requester`: the requester, if they can't approve.
    """

    numbers: tuple[int, ...]
    people: PeopleRefs
    quorum: int
    excluded_requester: str | None


@dataclass(frozen=True)
class ActionLine:
    """A pending action on one line. `fact` is the main fact of its arguments. `attempt`: see `Attempt`.
    `values`: its arguments, or None if they are not compared. `reads_all`: see OpenAction.
    """

    key: str
    revision: int
    number: int
    name: str
    fact: str
    odd_values: int
    progress: Progress | None
    attempt: int = 1
    values: tuple[CallValue, ...] | None = None
    reads_all: bool = True


@dataclass(frozen=True)
class OpenAction:
    """An action with its arguments and the allowed answers.

    - `seal`: the review's seal for what is shown; `rule`: the reason of the policy's rule;
    - `why`: the policy's description ("" if it has none), or the agent's if `by_agent`; then
      `agent_description` has more of it;
    - `title`: in the agent's system; `warnings`: about `odd_values` values;
    - `choices`: the answers to a question; `confirm`: Approve asks for a confirmation;
    - `reads_all`: what is cut must be opened before an approval; `decided`: set when it is decided;
    - `reason`: the agent's; None if there is none or an earlier action shows it; `values`: see ActionLine.
    """

    key: str
    revision: int
    seal: str
    number: int
    name: str
    title: str
    why: str
    by_agent: bool
    rule: Line
    fact: str
    excerpt: ArgumentsExcerpt
    warnings: tuple[Line, ...]
    odd_values: int
    allowed: tuple[DecisionType, ...]
    is_question: bool
    choices: tuple[Choice, ...]
    confirm: bool
    reads_all: bool
    edits: tuple[Edit, ...]
    progress: Progress | None
    decided: DecisionLine | None = None
    reason: AgentReason | None = None
    agent_description: AgentReason | None = None
    attempt: Attempt | None = None
    values: tuple[CallValue, ...] | None = None

    @property
    def reads_first(self) -> bool:
        """Whether its approve button first opens all of it."""
        must_read = self.reads_all and self.excerpt.missing > 0
        return must_read and "approve" in self.allowed and not self.choices


@dataclass(frozen=True)
class Doubt:
    """A call that may or may not have run, because its process died. `quorum` people must say what to do.
    `excluded_requester`: the requester, if they can't be one of them. `votes`: the answers so far.
    """

    key: str
    revision: int
    attempt: int
    seal: str
    name: str
    fact: str
    excerpt: ArgumentsExcerpt
    quorum: int
    excluded_requester: str | None
    votes: tuple[VoteGroup, ...]
    warnings: tuple[Line, ...] = ()


@dataclass(frozen=True)
class DecisionLine:
    """One line: the decision, its call, by whom, why, and the result.

    - `fact`: the main fact of the decided revision; "" if the policy doesn't keep it;
    - `by`: the people who voted, the last one last; () for the deadline, or for an agent that cancelled;
    - `message`: in the words of `by`; with `is_note` in ours;
    - `moved`: another rule matches an edit, and the action is no longer decided here;
    - `number` (on the card), `distinct_argument`: distinguish it from other actions of the same tool with the
      same fact;
    - `values`: its arguments, if several actions of one tool are compared; None if the policy doesn't keep
      them, or if they are too large.
    """

    key: str
    revision: int
    name: str
    type: DecisionType | Literal["allow", "cancel", "moved"]
    fact: str
    by: tuple[Reviewer, ...] = ()
    message: str | None = None
    is_note: bool = False
    edits: tuple[Edit, ...] = ()
    outcome: Outcome | None = None
    number: int | None = None
    distinct_argument: str = ""
    values: tuple[CallValue, ...] | None = None


@dataclass(frozen=True)
class DecidedElsewhere:
    """An action of the same review that was decided before the review came here."""

    name: str
    type: DecisionType
    by: Reviewer | None


@dataclass(frozen=True)
class EscalationNote:
    """One more place `to`. It was escalated from `origin` by a person, by time (None), or as a `fallback`."""

    to: Place
    origin: tuple[Place, ...]
    at: float
    by: Reviewer | None
    why: str | None
    fallback: bool


@dataclass(frozen=True)
class PlaceProblem:
    """The actions (by number; () means all) that can't be shown at `place`, why, and since when. `is_here`:
    the place is this card's own; the card is shown, but some look-ups failed. `too_few`: the card is shown,
    but too few people are left who may approve.
    """

    numbers: tuple[int, ...]
    place: Place
    why: str
    since: float
    is_here: bool
    too_few: bool = False


@dataclass(frozen=True)
class Card:
    """The card of a review at `place`.

    - `bare_title`: a title that has no words of the agent except names;
    - `table`: all actions, if there are several;
    - `summary`: the notification, a full sentence; `bare_summary`: the same for a message without buttons;
    - `waiting`: all pending actions; `open_actions`: the same in full, () if they are too many;
    - `page_keys`: the keys of all actions here, in the order of the Review modal;
    - `approve_all`: the keys and revisions of that button, with their `seal` and their `differences`;
    - `cancel_votes`: who wants to cancel, if that needs several people;
    - `escalation_people`: whom an escalation calls; `first_message`: from which it was escalated;
    - `decision_time`: seconds; None if pending, or after a doubt; `more_waiting`: reviews without a line;
    - `is_private`: one person sees it, away from its place, so it has no Escalate: that starts from a place.
    """

    review_id: str
    place: Place
    origin: Origin
    agent: str
    title: str
    bare_title: str
    summary: str
    bare_summary: str
    warnings: tuple[Line, ...]
    open_actions: tuple[OpenAction, ...]
    waiting: tuple[ActionLine, ...]
    page_keys: tuple[str, ...]
    approve_all: tuple[tuple[str, int], ...]
    seal: str
    differences: str
    table: ActionTable | None
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
    more_waiting: int = 0
    is_private: bool = False
