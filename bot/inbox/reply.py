"""The reply to a person: what a click did, the review if they may see it, and sentences for all channels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from hitl_core.errors import DecisionError, HitlError, RefusalCode, Refused
from hitl_core.model import (
    DecisionType,
    DoubtAnswer,
    Grant,
    MessageRef,
    Place,
    Reviewer,
    Snapshot,
)
from hitl_core.review import Decide, DecideAll

from .. import refusals
from ..card import READ_FIRST, Line
from ..channels.contract import ChannelError, LookupFailed
from .press import ActionRef, InboxCommand

#: If a refusal has one of these codes, the message with the button is out of date.
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
#: If a refusal has one of these codes, the person can fix it in the form, or try again.
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
    - `unanswered`: the action whose approval needs the person's own answer, in a form;
    - `snapshot`: the review as it is now, after the change if there was one, so that the next page needs no
      load. None if the review was not loaded;
    - `place`: the place of the card with the button; None if its message is not, or no longer, that card's.
    """

    code: Literal["ok"] | RefusalCode
    text: str = ""
    unread: Unread | None = None
    unanswered: ActionRef | None = None
    snapshot: PermittedSnapshot | None = None
    place: Place | None = None

    @classmethod
    def refusal(
        cls,
        refused: Refused,
        snapshot: PermittedSnapshot | None = None,
        command: InboxCommand | None = None,
        place: Place | None = None,
    ) -> Reply:
        """`command`: what was refused; None if it was no command."""
        unread = refused.unread if isinstance(refused, ReadRequired) else None
        unanswered = None
        if refused.code == "message_required" and isinstance(command, Decide):
            proposal = command.proposal
            if proposal.type == "approve":
                unanswered = ActionRef(
                    command.review_id, command.action, proposal.revision, proposal.seal
                )
        text = _about_all(refused) if isinstance(command, DecideAll) else str(refused)
        return cls(refused.code, text, unread, unanswered, snapshot, place)


def _about_all(refused: Refused) -> str:
    """Why several actions were not approved together: of which one it is, if that is known."""
    text, tool = str(refused), refused.tool if isinstance(refused, DecisionError) else None
    if refused.code not in ("already_voted", "not_permitted", "own_edit", "requester"):
        return text
    named = f"{tool}: {text}" if tool else text
    return f"{named} So nothing was approved: decide one by one."


class Unread(NamedTuple):
    """An action that must be read in full first; `why` is shown above it."""

    target: ActionRef
    why: Line


class ReadRequired(Refused):
    """The policy requires that people read all of an action before they make it run, and this person has not
    opened it. `kind`: what the person pressed.
    """

    def __init__(self, target: ActionRef, name: str, kind: DecisionType | DoubtAnswer) -> None:
        button = "Run again" if kind == "rerun" else "Approve"
        super().__init__("unread", refusals.read_first(name, button))
        self.unread = Unread(target, READ_FIRST.get(kind, ()))


@dataclass(frozen=True, kw_only=True)
class PermittedSnapshot(Snapshot):
    """A review that one person may see, with the grants by which `who` may decide: one tuple for each check.
    It is only valid for one click; the next click checks again.
    """

    who: Reviewer
    checked: tuple[tuple[Grant, ...], ...] = ()

    def permits(self, grants: Iterable[Grant]) -> bool:
        """Whether a check found that `who` may decide by one of these grants."""
        grants = tuple(grants)
        return any(bool(part) and all(grant in grants for grant in part) for part in self.checked)

    def with_check(self, grants: Iterable[Grant]) -> PermittedSnapshot:
        return replace(self, checked=(*self.checked, tuple(grants)))


def place_of_message(snapshot: Snapshot, message_ref: MessageRef | None) -> Place | None:
    """The place of the card that is shown in this message; None if no card is."""
    for place, ref in snapshot.posts.items():
        if message_ref and ref.key == message_ref.key:
            return place.base
    return None


def file_posted(place: str) -> str:
    """`place`: the name of the place, for people."""
    return f"The file is below the card in {place}."


def list_error(error: Exception, channel: str) -> str:
    """What a person reads after an error: a sentence that names the system that failed."""
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
