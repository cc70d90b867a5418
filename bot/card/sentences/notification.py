"""The notification of a card: the only text for a phone's lock screen and many screen readers. Pure."""

from __future__ import annotations

from collections import Counter

from hitl_core.model import DecisionType
from hitl_core.policy import names_person
from hitl_core.sentences import join_names

from ... import text
from ..arguments import shorten_fact
from ..buttons import doubt_buttons
from ..model import Deadline, format_clock, in_brackets, quote
from ..people import requester
from ..warnings import odd_values
from .headline import (
    DEADLINE_TEXTS,
    CardState,
    count_names,
    format_duration,
    is_question,
    question_count,
    result_text,
    tool_names,
)

#: The most characters of the fact of a single action, and of each of several: a lock screen shows about 150
#: in all.
MAX_FACT, MAX_SHARED_FACT = 80, 64
#: The most actions that are named one by one.
MAX_NAMED = 3
MAX_REQUESTER = 60
#: The words for the answers, in the order of the buttons.
_ANSWER_WORDS: tuple[tuple[DecisionType, str], ...] = (
    ("approve", "approve"),
    ("edit", "edit"),
    ("reject", "reject"),
    ("respond", "answer"),
    ("ignore", "skip"),
)


def summaries(state: CardState) -> tuple[str, str]:
    """Who wants what, for whom, until when; and the same without instruction, for a card without buttons."""
    bare = _facts(state)
    if state.doubts:
        return f"{bare} {_what_to_press(state)}", bare
    if state.waiting:
        return f"{bare} {_what_to_do(state)}", bare
    return bare, bare


def _facts(state: CardState) -> str:
    if state.doubts:
        return _doubt_facts(state)
    if not state.waiting:
        return f"{state.agent}: {count_names(tool_names(state))}{result_text(state)}."
    start = "Escalated: " if state.escalated else ""
    odd = sum(one.odd_values for one in state.lines)
    sentences = [
        f"{start}{state.agent} {_request(state)}",
        _for_whom(state.review.requester),
        f"⚠ {odd_values(odd)}." if odd else "",
    ]
    return " ".join(filter(None, sentences))


def _request(state: CardState) -> str:
    single = state.open_actions[0] if len(state.open_actions) == 1 else None
    if is_question(state.waiting):
        names = count_names([one.name for one in state.lines])
        words = single and (single.title or (single.why if single.by_agent else ""))
        return f"{question_count(state.waiting)} ({names}){f': {quote(words)}' if words else '.'}"
    return f"asks to run {_calls(state)}."


def _calls(state: CardState) -> str:
    """The tools with their facts. Of many actions, only the single one of a tool has a fact."""
    lines = state.lines
    if len(lines) == 1:
        return _call(lines[0].name, lines[0].fact, MAX_FACT)
    if len(lines) <= MAX_NAMED:
        calls = [_call(one.name, one.fact, MAX_SHARED_FACT) for one in lines]
        return f"{len(lines)} tools: {'; '.join(calls)}"
    counts = Counter(one.name for one in lines)
    single = {one.name: one.fact for one in lines if counts[one.name] == 1}
    with_fact = set(list(single)[:MAX_NAMED])
    names = [
        _call(one.name, one.fact, MAX_SHARED_FACT) if one.name in with_fact else one.name
        for one in lines
    ]
    return f"{len(lines)} tools: {count_names(names)}"


def _call(name: str, fact: str, most: int) -> str:
    return f"{name} {in_brackets(shorten_fact(fact, most))}"


def _for_whom(id: str | None) -> str:
    """For whom. "" for an id, which people can't read; the card mentions the person."""
    if not id or names_person(id):
        return ""
    return f"For {requester(text.one_line(id), MAX_REQUESTER).label}."


def _what_to_do(state: CardState) -> str:
    """The possible answers, the deadline, and what happens at it."""
    allowed = {decision for a in state.waiting for decision in a.config.allowed_decisions}
    answers = join_names([word for decision, word in _ANSWER_WORDS if decision in allowed], "or")
    it, is_ = ("it", "it is") if len(state.waiting) == 1 else ("them", "they are")
    due = [one for one in (state.next_step, state.deadline) if one is not None]
    if not due:
        return f"{answers.capitalize()} {it}."
    first = min(due, key=lambda one: (one.at is None, one.at or one.after))
    limit = f"within {format_duration(first.after)}"
    if first.at is not None:
        limit = f"by {format_clock(first.at)}"
    what = "escalated"
    if isinstance(first, Deadline):
        what = DEADLINE_TEXTS[first.decision]
        is_ = f"{first.name} is" if first.name else is_
    return f"{answers.capitalize()} {it} {limit}, else {is_} {what}."


def _doubt_facts(state: CardState) -> str:
    calls = [_call(one.name, one.fact, MAX_SHARED_FACT) for one in state.doubts]
    it = "It" if len(calls) == 1 else "Each"
    return (
        f"{state.agent} stopped during {join_names(calls, most=MAX_NAMED)}."
        f" {it} may or may not have run."
    )


def _what_to_press(state: CardState) -> str:
    buttons = doubt_buttons(state.review.id, state.doubts[0])
    labels = [quote(one.label) for one in buttons if one.verb != "see"]
    return f"Press {join_names(labels, 'or')}."
