"""The answer to a person: what became of a click, and the sentences that every channel says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hitl_core.errors import RefusalCode, Refused

from .commands import ActionRef
from .permitted import PermittedSnapshot

#: Does not say what was stored: an earlier attempt of the same click may have counted.
STORE_UNAVAILABLE = (
    "The store can't be reached at the moment. Press again in a moment: it counts only once."
)
RESULT_UNKNOWN = (
    "It is not known whether this was stored in time. Press again: it counts only once."
)
NOT_SHOWN_YET = "No card is shown yet. Press again in a moment."

#: Refusals which mean that the message with the button is out of date.
STALE_CODES: frozenset[RefusalCode] = frozenset(
    {
        "already_decided",
        "already_started",
        "already_voted",
        "cancelled",
        "expired",
        "not_due",
        "stale",
        "unknown_action",
    }
)
#: Refusals that the person can fix in the form, or that a second try can change.
FIXABLE_CODES: frozenset[RefusalCode] = frozenset(
    {
        "busy",
        "denied",
        "invalid_answer",
        "invalid_args",
        "message_required",
        "unavailable",
        "unchanged",
    }
)


@dataclass(frozen=True)
class Reply:
    """The answer to a person.

    `text` is one sentence, "" if the card itself shows the result. `unread` is the action that the person
    must read first. `snapshot` is the review as it is now, after the change if there was one: what is shown
    next needs no load. It is None if the review was not loaded.
    """

    code: Literal["ok"] | RefusalCode
    text: str = ""
    unread: ActionRef | None = None
    snapshot: PermittedSnapshot | None = None

    @classmethod
    def refusal(cls, refused: Refused, snapshot: PermittedSnapshot | None = None) -> Reply:
        unread = refused.target if isinstance(refused, ReadRequired) else None
        return cls(refused.code, str(refused), unread, snapshot)


class ReadRequired(Refused):
    """The policy requires approvers to read all of an action, and this person has not opened it."""

    def __init__(self, target: ActionRef, name: str) -> None:
        sentence = f"{name}: the policy requires that you read all of it first. Then press Approve."
        super().__init__("unread", sentence)
        self.target = target
