"""The ruling on a question that a call asks while it runs, such as `interrupt()` in a tool. Pure.

The answer decides whether the call continues. So the people who decide about the call also answer the
question, and nobody else: otherwise code could choose other people by the name that it gives its question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hitl_core.model import Route
from hitl_core.policy.combine_rulings import deny_ruling, earlier_expire, route_key
from hitl_core.policy.reader import combine_reviewers, find_unreachable_quorum
from hitl_core.policy.ruling import Ruling


class CallTerms(NamedTuple):
    """What people must do for a call, from its review or its ruling."""

    tool: str
    route: Route
    must_read: bool
    confirm: bool
    hide_when_decided: bool
    needs_requester: bool = False


def ask_like_calls(question: Ruling, calls: Sequence[CallTerms], default: Route) -> Ruling:
    """The ruling on a question that one of these calls asks. It has the calls' people, places and clock, and
    the strictest numbers of all. `default`: the route of the policy's default; a question with this route has
    no people of its own. The ruling becomes a denial if different people or places would be asked.
    """
    if question.verdict.kind == "deny" or not calls:
        return question
    own, place = route_key(question.route), route_key(calls[0].route)
    known = (place, route_key(default))
    if own not in known or any(route_key(each.route) != place for each in calls):
        return _deny(question, calls)
    # An edit is judged by the question's own rule, so it would take the question to other people.
    allowed = tuple(kind for kind in question.allowed_decisions if own == place or kind != "edit")
    for call in calls:
        question = _with_demands(question, call)
    if not allowed or find_unreachable_quorum(question.route):
        return _deny(question, calls)
    return question._replace(allowed_decisions=allowed)


def _with_demands(question: Ruling, call: CallTerms) -> Ruling:
    own = question.route
    reminds = [each for each in (own.remind, call.route.remind) if each is not None]
    route = call.route.model_copy(
        update={
            "reviewers": combine_reviewers(call.route.reviewers, own.reviewers),
            "expire": earlier_expire(own.expire, call.route.expire),
            "remind": min(reminds, default=None),
        }
    )
    return question._replace(
        route=route,
        must_read=question.needs_reading or call.must_read,
        confirm=question.confirm or call.confirm,
        hide_when_decided=question.hide_when_decided or call.hide_when_decided,
        needs_requester=question.needs_requester or call.needs_requester,
    )


def _deny(question: Ruling, calls: Sequence[CallTerms]) -> Ruling:
    tools = " and ".join(f"`{name}`" for name in dict.fromkeys(call.tool for call in calls))
    return deny_ruling(
        question,
        f"{tools} asks a question while it runs, and the people who decide about {tools} can't answer it: the"
        " policy's rule for the question needs other people, places or decisions. Give both rules the same,"
        " or the question no rule.",
    )
