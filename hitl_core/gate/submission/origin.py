"""Checks of the origin and the requester: in which thread the agent was asked, and by whom. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hitl_core.errors import InvalidToolCall
from hitl_core.model import Place
from hitl_core.policy import USER_ID, Ruling, names_person

#: A Slack conversation, and optionally a thread in it.
_ORIGIN_PATTERN = re.compile(r"slack:[CDG][A-Z0-9]{1,30}(?:/[0-9]{1,12}\.[0-9]{6})?")

#: A person, as Slack writes a mention, and with their workspace.
_MENTION = re.compile(r"<@([UW][A-Z0-9]{1,30})(?:\|[^<>]*)?>")
_IN_TEAM = re.compile(r"slack:[TE][A-Z0-9]{1,30}/([UW][A-Z0-9]{1,30})")


def read_origin(origin: str | None) -> Place | None:
    """Raises InvalidToolCall for a text that is not a Slack conversation or thread."""
    if origin is None:
        return None
    if not _ORIGIN_PATTERN.fullmatch(origin):
        raise InvalidToolCall(
            "The origin must be a thread such as slack:C0123ABCD/1700000000.000100,"
            f" not {origin!r:.80}."
        )
    return Place(origin)


def requester_of(given: str | None) -> str | None:
    """The bare id of a mention (`<@U1>`) or an id with its workspace (`slack:T1/U1`), else what is given."""
    named = (given or "").strip()
    written = _MENTION.fullmatch(named) or _IN_TEAM.fullmatch(named)
    if written:
        return written[1]
    return named if USER_ID.fullmatch(named) else given


def check_requester(requester: str | None, rulings: Iterable[Ruling]) -> None:
    """Raises InvalidToolCall when the requester must not approve, and `requester` is no chat user's id: also
    when only a quorum's default excludes the requester, but not when there is no requester then.
    """
    if names_person(requester):
        return
    asking = [ruling for ruling in rulings if ruling.verdict.kind == "review"]
    if any(ruling.needs_requester for ruling in asking) or (
        requester and any(ruling.route.reviewers.exclude_requester for ruling in asking)
    ):
        raise InvalidToolCall(
            "The policy doesn't let the requester approve, so `requester` must be the requester's user id in"
            f" the chat, such as U0123ABCD; {f'it is {requester!r:.80}' if requester else 'it is missing'}."
            " If requesters are not users of the chat, set `exclude_requester: false` in the policy."
        )
