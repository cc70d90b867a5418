"""Where the agent was asked, and on whose behalf. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hitl_core.errors import InvalidToolCall
from hitl_core.model import Place
from hitl_core.policy import Ruling
from hitl_core.policy.reader.reviewers import USER_ID

#: A conversation, and the thread in it.
_ORIGIN_PATTERN = re.compile(r"slack:[CDG][A-Z0-9]{1,30}(?:/[0-9]{1,12}\.[0-9]{6})?")


def check_origin(origin: Place | None) -> None:
    """Raises InvalidToolCall for what is no place where an agent is asked."""
    if origin is not None and not _ORIGIN_PATTERN.fullmatch(origin):
        raise InvalidToolCall(
            f"The origin is a thread such as slack:C0123ABCD/1700000000.000100, not {origin!r:.80}."
        )


def check_requester(requester: str | None, rulings: Iterable[Ruling]) -> None:
    """Raises InvalidToolCall where the requester must not approve, and nobody could tell who that is."""
    if USER_ID.fullmatch((requester or "").removeprefix("slack:")):
        return
    if any(ruling.needs_requester and ruling.verdict.kind == "review" for ruling in rulings):
        raise InvalidToolCall(
            "The policy doesn't let the requester approve, so say who that is by a user id of the chat, such"
            f" as U0123ABCD; {f'it is {requester!r:.80}' if requester else 'there is none'}."
        )
