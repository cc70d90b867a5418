"""All lines of a card, of an action and of a doubt. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hitl_core.model import is_digest_id, short_id
from hitl_core.sentences import join_names

from ..buttons import REVIEW_LABEL, action_buttons, choice_lines, doubt_buttons
from ..model import (
    NOBODY,
    ActionLine,
    AgentReason,
    Argument,
    ArgumentsExcerpt,
    Button,
    Card,
    DecisionLine,
    Doubt,
    Emphasis,
    Line,
    OpenAction,
    PlaceNames,
    Quote,
    Span,
    Strong,
    Text,
    Verbatim,
    agent_name,
    fit_parts,
    quote,
)
from ..people import doubt_quorum, may_decide, statement_lines, vote_counts, vote_lines
from ..warnings import odd_values
from .arguments import excerpt_notes, warning_lines
from .decisions import decision_lines, decision_text, elsewhere_line
from .headline import origin_lines, request_for
from .history import attempt_lines, call_lines, edit_lines, note_lines, ordinal, problem_lines

#: The most of the newest notes, and the most problems, on one card.
MAX_NOTES = 5
#: The shortest and the longest fact in one line of a list of actions.
MIN_LIST_FACT, MAX_LIST_FACT = 20, 80
#: The most actions with odd values that are named.
MAX_NUMBERS = 6


@dataclass(frozen=True)
class CardText:
    """The lines above and below the actions. The facts of `calls` and `origin` may share one line. Each of
    `problems` and `notes` has its reason below it. `deciders` and `elsewhere` may be ().
    """

    calls: tuple[Line, ...]
    origin: tuple[Line, ...]
    warnings: tuple[Line, ...]
    problems: tuple[tuple[Line, ...], ...]
    notes: tuple[tuple[Line, ...], ...]
    cancel_votes: tuple[Line, ...]
    elsewhere: Line
    decisions: tuple[Line, ...]
    deciders: Line
    ids: Line


@dataclass(frozen=True)
class ActionText:
    """One action or doubt: its headline, its arguments (or `head` says that there are none), and the lines
    below them. `decision` is () while it waits; a decided action has no buttons. `attempt` compares it with a
    rejected call. `says`: the agent's own words, its description and its reason. `answers`: a list of the
    answers with their values, if the buttons don't show all of them.
    """

    head: Line
    arguments: tuple[Argument, ...]
    warnings: tuple[Line, ...]
    edits: tuple[Line, ...]
    notes: tuple[Line, ...]
    votes: tuple[Line, ...]
    decision: Line
    buttons: tuple[Button, ...]
    says: tuple[Line, ...] = ()
    answers: tuple[Line, ...] = ()
    attempt: tuple[Line, ...] = ()


def card_text(card: Card, names: PlaceNames) -> CardText:
    origin = card.origin
    thread = (
        f"  ·  thread {quote(origin.thread)}" if origin.thread and not origin.conversation else ""
    )
    called = card.first_message is not None or card.escalation_people != NOBODY
    return CardText(
        calls=call_lines(card, names) if called else (),
        origin=origin_lines(card, names),
        warnings=(*_count_odd_values(card), *warning_lines(card.warnings)),
        problems=tuple(problem_lines(one, names) for one in card.place_problems[:MAX_NOTES]),
        notes=tuple(note_lines(one, card.place, names) for one in card.notes[-MAX_NOTES:]),
        cancel_votes=statement_lines(card.cancel_votes) if card.cancel_votes else (),
        elsewhere=elsewhere_line(card.elsewhere) if card.elsewhere else (),
        decisions=decision_lines(card.decision_lines) if card.decision_lines else (),
        deciders=may_decide(card.deciders, names, counts=not card.open_actions),
        ids=(Verbatim(f"{short_id(card.review_id)}{thread}"),),
    )


def action_text(
    review_id: str, action: OpenAction, names: PlaceNames, *, numbered: bool = True, above: str = ""
) -> ActionText:
    """The lines of an action. A text that is already in the title (`above`) is left out."""
    is_open = action.decided is None
    before = f"before you {'answer' if action.choices else 'decide'}"
    notes = excerpt_notes(action.excerpt, "" if action.reads_first else before)
    return ActionText(
        head=_action_head(action, numbered, above),
        arguments=action.excerpt.arguments,
        warnings=warning_lines(action.warnings),
        edits=edit_lines(action.edits) if is_open and action.edits else (),
        notes=tuple(notes),
        votes=vote_lines(action.progress, names) if is_open and action.progress else (),
        decision=_decision(action.decided) if action.decided else (),
        buttons=action_buttons(review_id, action),
        says=_agent_words(action, above),
        answers=choice_lines(action.choices) if is_open else (),
        attempt=attempt_lines(action.attempt) if action.attempt else (),
    )


def _decision(item: DecisionLine) -> Line:
    """The decision, below the arguments."""
    return decision_text(replace(item, fact="", distinct_argument=""))


def doubt_text(review_id: str, doubt: Doubt) -> ActionText:
    """The lines of a call that may or may not have run."""
    stopped = Emphasis("   The agent stopped during this call: it may or may not have run.")
    head = (Strong(doubt.name), stopped)
    notes = excerpt_notes(doubt.excerpt, "before you decide")
    if quorum := doubt_quorum(doubt):
        notes.append(quorum)
    return ActionText(
        head=_with_arguments(head, doubt.excerpt),
        arguments=doubt.excerpt.arguments,
        warnings=warning_lines(doubt.warnings),
        edits=(),
        notes=(*notes, *statement_lines(doubt.votes)),
        votes=(),
        decision=(),
        buttons=doubt_buttons(review_id, doubt),
    )


def refused_card_text(card: Card) -> str:
    """The text that is posted in place of a card that the chat system refused."""
    return f"{card.bare_summary} The full card can't be shown. The review is {short_id(card.review_id)}."


def is_single(card: Card) -> bool:
    """Whether the card has only one action, which then needs no number."""
    return len(card.waiting) + len(card.decision_lines) == 1


def list_line(action: ActionLine, room: int, size: Callable[[str], int]) -> Line:
    """An action on one line, with as much of its fact as fits in the `room` beside its name, whose size is
    `size(name)`.
    """
    title = f"{action.number}  {action.name}"
    room = max(MIN_LIST_FACT, min(MAX_LIST_FACT, room - size(title)))
    spans: list[Span] = [Strong(title), Text("  "), Verbatim(fit_parts(action.fact, room))]
    if action.attempt > 1:
        spans += [Text("  "), Emphasis(ordinal(action.attempt))]
    if action.odd_values:
        spans.append(Text(f"  ⚠ {odd_values(action.odd_values)}"))
    if action.progress is not None:
        spans += [Text("  "), Emphasis(vote_counts(action.progress))]
    return tuple(spans)


def list_hint(card: Card) -> Line:
    """The hint below the actions that are not shown in full. On a held card nobody can decide."""
    is_cut = card.table is None or bool(card.table.cut)
    start = "Too much for one message. " if is_cut and not is_digest_id(card.review_id) else ""
    what = "read all and decide" if card.deciders else "read all"
    return (Text(f"{start}Press "), Strong(REVIEW_LABEL), Text(f" to {what}."))


def more_line(count: int) -> Line:
    return (Text(f"and {count} more"),)


def more_doubts_line(count: int) -> Line:
    """How many calls in doubt the card has no space for now."""
    calls, they = ("call", "it appears") if count == 1 else ("calls", "they appear")
    return (Text(f"{count} more {calls} may have run: {they} here when these are decided."),)


def _action_head(action: OpenAction, numbered: bool, above: str) -> Line:
    """Its number, its title from the agent's system, its tool, and why the policy asks for a person."""
    number = f"{action.number}  " if numbered else ""
    title = quote(action.title) if action.title and quote(action.title) not in above else ""
    head: list[Span] = []
    if title or numbered or not above.endswith(request_for(action.name)):
        head.append(Strong(f"{number}{title or action.name}"))
    if title:
        head.append(Verbatim(f"   {action.name}"))
    why = "" if action.by_agent else action.why
    gap = "   " if head else ""
    for reason in filter(None, ((Emphasis(why),) if why else (), action.rule)):
        head += [Text(gap), *reason] if gap else reason
        gap = " "
    return _with_arguments(tuple(head), action.excerpt)


def _agent_words(action: OpenAction, above: str) -> tuple[Line, ...]:
    each = (action.agent_description, action.reason)
    return tuple(_agent_line(one) for one in each if one and quote(one.text) not in above)


def _agent_line(reason: AgentReason) -> Line:
    """The agent's reason, quoted as the agent's: it may say anything."""
    of = f" of {join_names(map(str, reason.numbers))}" if reason.numbers else ""
    return (Verbatim(agent_name(reason.agent)), Text(f" says{of}: "), Quote(reason.text))


def _with_arguments(head: Line, excerpt: ArgumentsExcerpt) -> Line:
    if excerpt.arguments:
        return head
    return (*head, Text("\nno arguments" if head else "no arguments"))


def _count_odd_values(card: Card) -> tuple[Line, ...]:
    """How many odd values the actions have, and which actions of several; () if there are none."""
    odd = [one for one in card.waiting if one.odd_values]
    if not odd:
        return ()
    count = odd_values(sum(one.odd_values for one in odd))
    numbers = join_names((f"#{one.number}" for one in odd), most=MAX_NUMBERS)
    where = "below" if len(odd) == len(card.waiting) else f"in {numbers}"
    return ((Strong(f"⚠ {count} {where}"),),)
