"""The texts about a call beside its arguments: the agent's title, description and reason, and the rule's
reason. In a review that hides values, the agent's texts are not shown. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hitl_core.model import Action, Call, Review, Verdict
from hitl_core.policy import DESCRIPTION_PREFIX, plain_reason
from hitl_core.review import agent_problem_of, description_of, reason_of, rule_reason_of, title_of

from .. import text
from .arguments import has_own_lines
from .model import (
    AgentReason,
    Argument,
    Code,
    Emphasis,
    Line,
    OpenAction,
    Quote,
    Text,
    Time,
    agent_name,
    quote,
)
from .warnings import NamedValue, find_warnings, text_warnings

#: The most characters of a reason on a card, and in a modal. The modal shows a reason in full: marks make it
#: longer.
MAX_CUT = 300
MAX_WHOLE = 2_800
MAX_AGENT = 100
#: The most characters of the policy's reason.
MAX_RULE = 300
#: The most characters of an agent's error.
MAX_ERROR = 400


class CallTexts(NamedTuple):
    """The texts in full, empty if there is none. `withheld`: a sentence for each text that is not shown."""

    title: str
    description: str
    reason: str
    rule: Line
    withheld: tuple[str, ...]


def find_texts(review: Review, action: Action) -> CallTexts:
    call, request = review.call(action.key), action.request
    texts = {
        "description": _find_description(review, action),
        "title": title_of(review, action) if request.title else "",
        "reason": reason_of(review, call) if call and call.reason else "",
    }
    rule: Line = ()
    if call and not call.verdict.by_agent:  # without the description, which the card shows anyway
        reason = rule_reason_of(review, call).removeprefix(request.description).strip()
        rule = _rule_line(reason, call.verdict, action.name)
    return CallTexts(
        title=texts["title"] or "",
        description=texts["description"] or "",
        reason=texts["reason"] or "",
        rule=rule,
        withheld=tuple(
            f"Its {name} is not shown, because this review has hidden values."
            for name, words in texts.items()
            if words is None
        ),
    )


def _rule_line(reason: str, verdict: Verdict, tool: str) -> Line:
    """The reason, with the rule's name as code; () if it is only that the tool has a rule of its own."""
    name = verdict.rule
    if name == tool and reason == plain_reason(name, verdict.kind):
        return ()
    before, found, after = text.shorten(reason, MAX_RULE).partition(f"`{name}`")
    spans: Line = (
        (Emphasis(before), Code(name), Emphasis(after)) if found and name else (Emphasis(before),)
    )
    return tuple(span for span in spans if span.text)


def description_text(action: OpenAction) -> str:
    """The description for people. The agent's own words are quoted, like its title."""
    return quote(action.why) if action.why and action.by_agent else action.why


def _find_description(review: Review, action: Action) -> str | None:
    """The description without the parts that the card shows anyway: LangChain's default repeats the call.
    None if the description is not shown.
    """
    description, *_ = action.request.description.split(f"\n\nTool: {action.request.name}\nArgs: ")
    if description.strip() == DESCRIPTION_PREFIX:
        return ""
    request = action.request.model_copy(update={"description": description.strip()})
    return description_of(review, action.model_copy(update={"request": request}))


def make_reason(review: Review, reason: str, *, is_whole: bool) -> AgentReason:
    """The reason on one line: after a line break, a line could look like one of ours."""
    cut = text.truncate(text.one_line(reason), MAX_WHOLE if is_whole else MAX_CUT)
    return AgentReason(text.shorten(review.agent, MAX_AGENT), cut.text, cut.missing)


def merge_reasons(actions: Sequence[OpenAction]) -> tuple[OpenAction, ...]:
    """The actions, with a reason that several of them have only on the first of them."""
    numbers: dict[AgentReason, list[int]] = {}
    for action in actions:
        if action.reason:
            numbers.setdefault(action.reason, []).append(action.number)
    merged: list[OpenAction] = []
    for action in actions:
        if action.reason and len(same := numbers[action.reason]) > 1:
            is_first = same[0] == action.number
            first = replace(action.reason, numbers=tuple(same)) if is_first else None
            action = replace(action, reason=first)
        merged.append(action)
    return tuple(merged)


def agent_arguments(review: Review, call: Call) -> tuple[Argument, ...]:
    """The agent's texts about the call in full, for a list of all arguments: labelled as no arguments."""
    action = review.action(call.key)
    by_agent = action is not None and action.request.by_agent
    description = _find_description(review, action) if action and by_agent else None
    label = f"Not an argument: {agent_name(text.one_line(review.agent))} says"
    texts = {"Its description": description, "The agent's reason": reason_of(review, call)}
    return tuple(_agent_argument(label, name, words) for name, words in texts.items() if words)


def _agent_argument(label: str, name: str, words: str) -> Argument:
    words, warnings = quote(text.to_visible(words)), text_warnings(name, words)
    style = "quote" if has_own_lines(words) else "line"
    return Argument(label, words, style, warnings=warnings)


def card_warnings(review: Review) -> tuple[Line, ...]:
    """What people must know about the agent: that it can't go on, and what is odd in its names."""
    return (*_agent_problem(review), *_name_warnings(review))


def _agent_problem(review: Review) -> tuple[Line, ...]:
    """That the agent can't go on, since when, and why in its own words."""
    if (problem := review.agent_problem) is None:
        return ()
    start = Text("The agent can't go on after these decisions (since ")
    end = Text("). It tries again. Look at its log. Its error")
    why = text.shorten(text.one_line(agent_problem_of(review)), MAX_ERROR)
    error = (Text(f" is {why}."),) if review.hides_values else (Text(": "), Quote(why))
    return ((start, Time(problem.since), end, *error),)


def _name_warnings(review: Review) -> tuple[Line, ...]:
    """Warnings about the names of the agents and the requester."""
    names = [("The agent's name", review.agent), ("The requester's name", review.requester or "")]
    names += [("The name of an agent on the way", agent) for agent in review.path]
    found = find_warnings([NamedValue(Text(name), words) for name, words in names])
    return tuple(dict.fromkeys(found.lines))
