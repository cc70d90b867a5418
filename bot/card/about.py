"""What a form or page beside a card is about: the call, who asks for it, for whom, until when. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_core.model import Action, Review
from hitl_core.review import deadline

from .. import text
from .arguments import main_fact, mask_action
from .model import Deadline
from .people import requester
from .sentences import MAX_NAME, MAX_REQUESTER, due_line
from .spans import Line, Span, Strong, Text, Verbatim, agent_name

#: Calls that a form for several of them names.
MAX_NAMED = 3


def call_about(review: Review, action: Action) -> tuple[Line, ...]:
    """The call with its main fact, and who asks for it."""
    return (_call_line(review, action), asker_line(review, action))


def calls_about(review: Review, actions: Sequence[Action]) -> tuple[Line, ...]:
    """The first of several calls, and who asks for them."""
    lines = [_call_line(review, action) for action in actions[:MAX_NAMED]]
    if more := len(actions) - MAX_NAMED:
        lines += [(Text(f"and {more} more"),)] if more > 0 else []
    return (*lines, asker_line(review, actions[0]))


def asker_line(review: Review, action: Action) -> Line:
    """Which agent asks, for whom, and what happens when nobody decides."""
    agent = agent_name(text.shorten(review.agent, MAX_NAME))
    spans: list[Span] = [Text("Asked by "), Verbatim(agent)]
    if review.requester:
        spans += [Text(" for "), requester(text.one_line(review.requester), MAX_REQUESTER)]
    if action.is_pending and (expire := action.route.expire) is not None:
        end = Deadline(deadline(action), expire.after, expire.decision, None)
        spans += [Text("  ·  "), *due_line(end)]
    return tuple(spans)


def _call_line(review: Review, action: Action) -> Line:
    masked = mask_action(action, review.arguments(action.key).parse())
    return (Strong(action.name), Text("   "), Verbatim(main_fact(masked)))
