"""The top of a card: its title, and below it who asked, from where, and until when. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hitl_core.model import Action, DecisionType, Review, is_digest_id
from hitl_core.review import PAST_VERBS
from hitl_core.sentences import join_names

from ... import text
from ..model import (
    ActionLine,
    Card,
    Code,
    Deadline,
    Doubt,
    Line,
    Link,
    NextStep,
    OpenAction,
    PlaceNames,
    Span,
    Text,
    Time,
    Verbatim,
    agent_name,
    quote,
)
from ..people import requester

MAX_NAME = 60
MAX_QUESTION = 60


class CardState(NamedTuple):
    """A review at one place: the agent's name as the subject of a sentence, its actions there (`here`), the
    pending ones (`waiting`; `open_actions` if the card shows them in full), the calls in doubt, and the
    actions that an edit moved away. `lines`: the pending actions with their facts.
    """

    review: Review
    agent: str
    here: Sequence[Action]
    waiting: Sequence[Action]
    doubts: Sequence[Doubt]
    escalated: bool
    open_actions: Sequence[OpenAction]
    moved_away: Sequence[Action]
    lines: Sequence[ActionLine] = ()
    next_step: NextStep | None = None
    deadline: Deadline | None = None


def subject(agent: str) -> str:
    """The agent as the beginning of our sentence. A quoted name is introduced as the agent's."""
    name = agent_name(text.shorten(agent, MAX_NAME))
    return name if name == agent else f"The agent {name}"


def titles(state: CardState) -> tuple[str, str]:
    """The title of a card; and the same with only names of the agent's words."""
    agent = state.agent
    if state.doubts:
        title = f"{agent}: did {_tools_text([doubt.name for doubt in state.doubts])} run?"
        return title, title
    if not state.waiting:
        title = f"{agent}: {_tools_text(tool_names(state))}{result_text(state)}"
        return title, title
    start = f"Escalated: {agent}" if state.escalated else agent
    is_asking = is_question(state.waiting)
    request = question_count(state.waiting) if is_asking else ""
    bare = f"{start} {request or request_for(_tools_text([one.name for one in state.lines]))}"
    single = state.open_actions[0] if len(state.open_actions) == 1 else None
    if single and (words := single.title or (single.why if is_asking and single.by_agent else "")):
        return f"{start} asks: {quote(text.clip(words, MAX_QUESTION))}", bare
    return bare, bare


def request_for(tools: str) -> str:
    """The end of the title of a card: what the agent wants."""
    return f"asks to run {tools}"


def question_count(waiting: Sequence[Action]) -> str:
    return "has a question" if len(waiting) == 1 else f"has {len(waiting)} questions"


def is_question(waiting: Sequence[Action]) -> bool:
    """Whether all actions are questions, so that no tool can run."""
    return all(not {"approve", "edit"} & {*a.config.allowed_decisions} for a in waiting)


def tool_names(state: CardState) -> list[str]:
    if not state.here and state.moved_away:  # the edited names are not shown at this place
        return [a.request.name for a in state.moved_away]
    return [a.name for a in state.here] or [c.name for c in state.review.calls]


def result_text(state: CardState) -> str:
    """The text after the tools: ` rejected`, `: 38 approved, 2 rejected`."""
    if not state.here and state.moved_away:
        return " edited, now decided by others"
    if state.review.cancelled:
        return " cancelled"
    kinds = Counter[DecisionType](action.decision.type for action in state.here if action.decision)
    if len(kinds) == 1:
        return f" {PAST_VERBS[next(iter(kinds))]}"
    kinds["approve"] += kinds.pop("edit", 0)
    counts = [f"{kinds[one]} {word}" for one, word in PAST_VERBS.items() if kinds[one]]
    return f": {', '.join(counts)}" if counts else " decided"


def count_names(words: Iterable[str]) -> str:
    """Each word once with its count; at most six words."""
    counts = Counter(words).items()
    each = [f"{word} ×{n}" if n > 1 else word for word, n in counts]  # noqa: RUF001
    return join_names(each, most=6)


def _tools_text(names: Sequence[str]) -> str:
    if len(set(names)) > 1:
        return f"{len(names)} tools"
    times = f" ×{len(names)}" if len(names) > 1 else ""  # noqa: RUF001
    return text.shorten(names[0], MAX_NAME) + times


#: The most characters of the requester's name, and of the names of all agents on the way.
MAX_REQUESTER = 96
MAX_PATH = 193

DEADLINE_TEXTS = {**PAST_VERBS, "respond": "answered by the policy"}


def origin_lines(card: Card, names: PlaceNames) -> tuple[Line, ...]:
    """For whom and in which conversation, through which agents, and the next deadlines. Each is one fact."""
    source = card.origin
    asked_in: list[Span] = []
    if source.requester:
        asked_in += [Text("For "), requester(source.requester, MAX_REQUESTER)]
    url = source.conversation and names.thread_link(source.conversation)
    if url:
        asked_in += [Text(" in " if asked_in else "in "), Link("this conversation", url)]
    lines: list[Line] = [tuple(asked_in)] if asked_in else []
    if source.path:
        path = text.clip(" → ".join(map(agent_name, source.path)), MAX_PATH)
        lines.append((Text("via "), Verbatim(path)))
    return (*lines, *due_lines(card, names))


def format_duration(seconds: float) -> str:
    """The duration in one unit, rounded."""
    for length, unit in ((86_400, "day"), (3600, "h"), (60, "min")):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'s' * (unit == 'day' and count > 1)}"
    return f"{max(1, round(seconds))} s"


def due_lines(card: Card, names: PlaceNames) -> list[Line]:
    """What happens next, and when."""
    lines: list[Line] = []
    if card.doubts:
        lines.append((Text("the agent waits for an answer"),))
    elif card.decision_time is not None:
        lines.append((Text(f"decided after {format_duration(card.decision_time)}"),))
    if not card.waiting:
        return lines
    if (step := card.next_step) is not None:
        to = names.span(step.to)
        lines.append((Text("escalates to "), to, Text(" ("), _due_span(step), Text(")")))
    if (end := card.deadline) is not None:
        lines.append(due_line(end))
    if is_digest_id(card.review_id):  # each of its reviews has its own
        return [(Text("the first one: "), *line) for line in lines]
    if not lines and card.deciders:  # a held card has none
        return [(Text("waits until somebody decides"),)]
    return lines


def due_line(end: Deadline) -> Line:
    """What happens without a decision, and when."""
    what: Line = (Code(end.name), Text(" is ")) if end.name else ()
    unless = f"{DEADLINE_TEXTS[end.decision]} unless decided in time ("
    return (*what, Text(unless), _due_span(end), Text(")"))


def _due_span(due: NextStep | Deadline) -> Span:
    """The time of the timer; its duration if it has not started (it starts when this message is posted)."""
    return Text(f"after {format_duration(due.after)}") if due.at is None else Time(due.at)
