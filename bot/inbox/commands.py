"""The values of a click: what it is about, and the reply to the person."""

from __future__ import annotations

from dataclasses import dataclass

from hitl_core.errors import Refused

#: In seconds. Slack shows a failure after 3 s; the reply must be sent before.
CLICK_TIMEOUT = 1.8

#: Does not say what was stored: an earlier attempt of the same click may have counted.
STORE_UNAVAILABLE = (
    "The store can't be reached at the moment. Press again in a moment: it counts only once."
)
RESULT_UNKNOWN = (
    "It is not known whether this was stored in time. Press again: it counts only once."
)

#: Refusals that are not worth an audit entry: a mistake that the person can fix, or our own problem.
UNAUDITED_REFUSALS = frozenset(
    {
        "bad_answer",
        "busy",
        "gone",
        "invalid_answer",
        "invalid_args",
        "message_required",
        "unavailable",
        "unchanged",
        "unknown_members",
        "unread",
    }
)


@dataclass(frozen=True)
class ActionRef:
    """The action of a button. `revision` and `seal` (`Review.seal`) are those that its card showed."""

    review_id: str
    action: str
    revision: int
    seal: str | None = None


@dataclass(frozen=True)
class Reply:
    """The answer to a person.

    `code` is "ok", "unavailable" or the refusal's code. `text` is one sentence, "" if the card itself shows
    the result. `unread` is the action that the person must read first.
    """

    code: str
    text: str = ""
    unread: ActionRef | None = None


class ReadRequired(Refused):
    """The policy requires approvers to read all of an action, and this person has not opened it."""

    def __init__(self, target: ActionRef, name: str) -> None:
        sentence = f"{name}: the policy requires that you read all of it first. Then press Approve."
        super().__init__("unread", sentence)
        self.target = target
