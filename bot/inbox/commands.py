"""What a button refers to, and the commands that the inbox takes."""

from __future__ import annotations

from dataclasses import dataclass

from hitl_core.model import MessageRef, Reviewer
from hitl_core.review import AnswerDoubt, Decide, DecideAll, Escalate


@dataclass(frozen=True)
class ActionRef:
    """The action of a button. `revision` and `seal` (`Review.seal`) are those that its card showed."""

    review_id: str
    action: str
    revision: int
    seal: str | None = None


@dataclass(frozen=True)
class Choose:
    """One of the choices of a question, by its number on the card. It becomes a `Decide`."""

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


#: What people do in a chat. Nobody cancels a review there.
InboxCommand = Decide | DecideAll | Escalate | AnswerDoubt | Choose
