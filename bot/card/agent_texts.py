"""The texts about a call beside its arguments: the agent's title, description and reason, and the reason of
the rule. Where a review hides values, the agent's texts are withheld. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hitl_core.model import Action, Call, Review
from hitl_core.policy import DESCRIPTION_PREFIX
from hitl_core.review import description_of, reason_of, rule_reason_of, title_of

from .. import text
from .arguments import has_own_lines
from .model import AgentReason, Argument, OpenAction, agent_name, quote
from .odd_values import text_warnings

#: Characters of a reason on a card, and in a modal, where it is whole: marks make it longer.
MAX_CUT = 300
MAX_WHOLE = 2_800
MAX_AGENT = 100


class CallTexts(NamedTuple):
    """They are uncut, and "" if not given. `withheld` has a sentence for each that is not shown."""

    title: str
    description: str
    reason: str
    rule: str
    withheld: tuple[str, ...]


def find_texts(review: Review, action: Action) -> CallTexts:
    call, request = review.call(action.key), action.request
    texts = {
        "description": _find_description(review, action),
        "title": title_of(review, action) if request.title else "",
        "reason": reason_of(review, call) if call and call.reason else "",
    }
    rule = ""
    if call and not call.verdict.by_agent:  # without the description that the card shows anyway
        rule = rule_reason_of(review, call).removeprefix(request.description).strip()
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


def description_text(action: OpenAction) -> str:
    """The description as it is shown: the agent's own words are quoted, like its title."""
    return quote(action.why) if action.why and action.by_agent else action.why


def _find_description(review: Review, action: Action) -> str | None:
    """The description without what the card shows anyway: LangChain's default repeats the call. None for a
    description that is not shown.
    """
    description, *_ = action.request.description.split(f"\n\nTool: {action.request.name}\nArgs: ")
    if description.strip() == DESCRIPTION_PREFIX:
        return ""
    request = action.request.model_copy(update={"description": description.strip()})
    return description_of(review, action.model_copy(update={"request": request}))


def make_reason(review: Review, reason: str, *, is_whole: bool) -> AgentReason:
    """On one line: a line break could begin a line that looks like one of ours."""
    cut = text.truncate(text.one_line(reason), MAX_WHOLE if is_whole else MAX_CUT)
    return AgentReason(text.shorten(review.agent, MAX_AGENT), cut.text, cut.missing)


def merge_reasons(actions: Sequence[OpenAction]) -> tuple[OpenAction, ...]:
    """A reason that several actions have is shown once, with the first of them."""
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
    """What the agent says of the call, whole, for a list of all arguments: as none of them."""
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
