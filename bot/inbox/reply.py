"""What a person gets back: what became of a click, the review if they may see it, and the sentences of every
channel.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hitl_core.errors import HitlError, RefusalCode, Refused
from hitl_core.model import (
    DecisionType,
    DoubtAnswer,
    Grant,
    MessageRef,
    Place,
    Reviewer,
    Snapshot,
)
from hitl_core.review import Decide

from .. import refusals
from ..card import READ_FIRST, Line
from ..channels.contract import ChannelError, LookupFailed
from .press import ActionRef, InboxCommand

#: Refusals which mean that the message with the button is out of date.
STALE_CODES: frozenset[RefusalCode] = frozenset(
    {
        "already_decided",
        "already_started",
        "already_voted",
        "cancelled",
        "expired",
        "held",
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

    - `text`: one sentence, "" if the card itself shows the result;
    - `unread`: what the person must read first;
    - `unanswered`: the action whose approval needs their own answer, which is a form;
    - `snapshot`: the review as it is now, after the change if there was one: what is shown next needs no
      load. None if the review was not loaded.
    """

    code: Literal["ok"] | RefusalCode
    text: str = ""
    unread: Unread | None = None
    unanswered: ActionRef | None = None
    snapshot: PermittedSnapshot | None = None

    @classmethod
    def refusal(
        cls,
        refused: Refused,
        snapshot: PermittedSnapshot | None = None,
        command: InboxCommand | None = None,
    ) -> Reply:
        """`command` is what was refused, if it was one."""
        unread = refused.unread if isinstance(refused, ReadRequired) else None
        unanswered = None
        if refused.code == "message_required" and isinstance(command, Decide):
            proposal = command.proposal
            if proposal.type == "approve":
                unanswered = ActionRef(
                    command.review_id, command.action, proposal.revision, proposal.seal
                )
        return cls(refused.code, str(refused), unread, unanswered, snapshot)


class Unread(NamedTuple):
    """All of this action must be read first; `why` is shown above it."""

    target: ActionRef
    why: Line


class ReadRequired(Refused):
    """The policy requires that all of an action is read by those who make it run (`kind` is what the person
    pressed), and this person has not opened it.
    """

    def __init__(self, target: ActionRef, name: str, kind: DecisionType | DoubtAnswer) -> None:
        button = "Run again" if kind == "rerun" else "Approve"
        super().__init__("unread", refusals.read_first(name, button))
        self.unread = Unread(target, READ_FIRST.get(kind, ()))


class PermittedSnapshot(Snapshot):
    """A review that one person may see, with the grants by which `who` may decide: one tuple for each
    check. It is for one click: later the permission is checked again.
    """

    who: Reviewer
    checked: tuple[tuple[Grant, ...], ...] = ()

    def permits(self, grants: Iterable[Grant]) -> bool:
        """Whether it was checked that `who` may decide by one of these grants."""
        grants = tuple(grants)
        return any(bool(part) and all(grant in grants for grant in part) for part in self.checked)

    def with_check(self, grants: Iterable[Grant]) -> PermittedSnapshot:
        return self.model_copy(update={"checked": (*self.checked, tuple(grants))})


def place_of_message(snapshot: Snapshot, message_ref: MessageRef) -> Place | None:
    """The place whose card this message is."""
    for place, ref in snapshot.posts.items():
        if ref.key == message_ref.key:
            return place.base
    return None


def file_posted(place: str) -> str:
    """`place`: its name for people."""
    return f"The file is below the card in {place}."


def list_error(error: Exception, channel: str) -> str:
    """What a person reads when what they wanted failed: a sentence that names the system that did."""
    match error:
        case Refused():
            return str(error)
        case HitlError():
            return refusals.STORE_UNAVAILABLE
        case LookupFailed():
            return f"{error}. Tell the people who run the bot."
        case ChannelError():
            return f"{channel} didn't answer a request that this needs: {error}. Try again in a moment."
        case TimeoutError():
            return f"{channel} or the store took too long to answer. Try again in a moment."
        case _:
            return refusals.FAILED
