"""What people do: a pressed button, what it refers to, and the commands for the inbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, assert_never, cast, get_args

from hitl_core.errors import Refused
from hitl_core.model import MessageRef, Reviewer
from hitl_core.review import AnswerDoubt, Decide, DecideAll, Escalate, Proposal

from .. import refusals
from ..card import Verb


@dataclass(frozen=True)
class ActionRef:
    """The action that a button is about. `revision` and `seal` (`Review.seal`): as its card showed them."""

    review_id: str
    action: str
    revision: int
    seal: str | None = None


@dataclass(frozen=True)
class Choose:
    """One of the choices of a question, by its number on the card. The inbox turns it into a `Decide`."""

    target: ActionRef
    number: int
    who: Reviewer
    op: str
    message_ref: MessageRef | None = None

    @property
    def review_id(self) -> str:
        return self.target.review_id

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.target.action,)


#: What people can do in a chat. A review can't be cancelled there.
InboxCommand = Decide | DecideAll | Escalate | AnswerDoubt | Choose


@dataclass(frozen=True)
class Press:
    """The content of a pressed button. `target.action` is "" for a whole review; `number` is a page, a choice
    or the steps of an escalation; `revisions` are those of several actions.
    """

    verb: Verb
    target: ActionRef
    number: int
    revisions: Mapping[str, int]

    @classmethod
    def parse(cls, value: str) -> Self:
        """Reads `Button.value`. A missing part becomes "" or 0, which matches nothing, so the person gets the
        usual refusal. Raises Refused if it is not a button of ours.
        """
        verb, review_id, action, revision, seal, number, *_ = (*value.split("."), *[""] * 5)
        if verb not in get_args(Verb):
            raise Refused("unknown_action", refusals.UNREADABLE_BUTTON)
        pairs = (pair.partition(":") for pair in action.split(",") if ":" in pair)
        return cls(
            cast(Verb, verb),
            ActionRef(review_id, action, _parse_number(revision), seal),
            _parse_number(number),
            {key: _parse_number(each) for key, _, each in pairs},
        )

    def command(
        self, who: Reviewer, op: str, message_ref: MessageRef | None = None
    ) -> InboxCommand | None:
        """The command of the button; None if it opens or shows something. `op` is the id of this press, which
        counts only once. `message_ref` is the card with the button.
        """
        target, verb = self.target, self.verb
        review_id, action, revision, seal = (
            target.review_id, target.action, target.revision, target.seal,
        )  # fmt: skip
        match verb:
            case "approve" | "ignore":
                proposal = Proposal(verb, revision, seal=seal)
                return Decide(review_id, action, proposal, who, op, message_ref)
            case "answer":
                return Choose(target, self.number, who, op, message_ref)
            case "approve_all":
                proposals = {key: Proposal("approve", one) for key, one in self.revisions.items()}
                return DecideAll(review_id, proposals, who, op, seal, message_ref)
            case "ran" | "rerun" | "skip":
                return AnswerDoubt(review_id, action, verb, who, op, revision, seal, message_ref)
            case (
                "edit" | "reject" | "respond" | "escalate"
                | "see" | "review" | "back" | "next" | "file"
            ):  # fmt: skip
                return None
        assert_never(verb)


def _parse_number(text: str) -> int:
    """The number in the text; 0 if it is not a number of at most 9 digits."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0
