"""What somebody did, and what they are told: a click names things, and a reply is a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from hitl_core.errors import Refused

#: Slack shows a failure after 3 s; the sentence must be on its way before.
CLICK_TIMEOUT = 1.8

#: Says nothing of what was stored: an earlier try of the same press may have counted.
STORE_UNAVAILABLE = (
    "The store can't be reached just now. Press again in a moment: it counts only once."
)
RESULT_UNKNOWN = (
    "It is not known whether this was stored in time. Press again: it counts only once."
)

#: Refusals that say nothing of who tried what: a slip that can be mended, or trouble of our own.
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
    """What a button is about: `revision` is the one that its card showed, `seal` that of what it would have
    run (`Review.seal`).
    """

    review_id: str
    action: str
    revision: int
    seal: str | None = None


@dataclass(frozen=True)
class Reply:
    """`code` is "ok", "unavailable", or why it was refused; `text` is one sentence for the person, empty
    where the card itself says it. `unread`: the action of which everything is to be shown first.
    """

    code: str
    text: str = ""
    unread: ActionRef | None = None


class ReadRequired(Refused):
    """The policy wants all of an action to be seen before it is approved, and this person has not."""

    def __init__(self, target: ActionRef, name: str) -> None:
        sentence = f"{name}: read all of it first, as the policy requires. Then press Approve."
        super().__init__("unread", sentence)
        self.target = target
