"""Answers: other systems' words become checked proposals, and decisions are said in those words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from hitl_core.dialects._json import Json, plain
from hitl_core.errors import (
    DecisionError,
    DialectError,
    HitlError,
    InvalidToolCall,
    Refused,
    Unsayable,
)
from hitl_core.gate.answers import answers
from hitl_core.model import Action, DecisionType, DialectName, Review, encode
from hitl_core.model.arguments import JsonObject
from hitl_core.review.proposal import Proposal, answer_of, args_of, message_of

#: As other systems call our decisions.
ALIASES: dict[str, DecisionType] = {"accept": "approve", "response": "respond"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where in an answer we are: what every complaint names."""

    review: Review
    action: Action
    index: int

    @property
    def tool(self) -> str:
        return self.action.request.name

    @property
    def allowed(self) -> tuple[DecisionType, ...]:
        return self.action.config.allowed_decisions

    def wrong(self, message: str, field: str, code: str = "bad_answer") -> NoReturn:
        raise DecisionError(message, index=self.index, tool=self.tool, field=field, code=code)

    def check_id(self, decision: Json) -> None:
        """An answer may say which call each decision is for; then it is that one, or none."""
        said = decision.get("tool_call_id")
        if said is not None and said != self.action.request.tool_call_id:
            self.wrong(
                f"Decision {self.index} is for the call {said!r:.80}, but action {self.index} is"
                f" {self.action.request.tool_call_id!r}.",
                "tool_call_id",
            )

    def proposal(
        self,
        kind: DecisionType,
        field: str,
        *,
        message: str | None = None,
        name: str | None = None,
        args: object = None,
        answer: Any = None,
    ) -> Proposal:
        """Checked as it will be when it is stored. `field`: where the new arguments, or the answer, are."""
        try:
            edited = encode(args) if kind == "edit" else None
            said = Proposal(
                kind, self.action.revision, message, edited, name, answer, verbatim=True
            )
            args_of(self.review, self.action, said)
            answer_of(self.action, said)
            message_of(self.action, said)
        except InvalidToolCall as error:
            self.wrong(f"Decision {self.index} on {self.tool}: {error}", field)
        except DecisionError as error:
            pointer = error.field or ""
            path = field + pointer.replace("/", ".")
            self.wrong(f"{path}: {str(error).removeprefix(f'{pointer}: ')}", path, error.code)
        except Refused as error:
            renames = name not in (None, self.tool)
            self.wrong(
                str(error), f"{field.removesuffix('args')}name" if renames else field, error.code
            )
        except HitlError as error:  # a schema that can't be used
            self.wrong(f"Decision {self.index} on {self.tool} can't be checked: {error}", field)
        return said


def answer_wire(wire: object, *, javascript: bool = False) -> Any:
    """An answer of a size to work with. Raises DecisionError."""
    try:
        return plain(wire, javascript=javascript)
    except DialectError as error:
        raise DecisionError(f"The answer can't be read. {error}") from error


def places(review: Review, decisions: Sequence[object], message: str) -> list[Place]:
    """One for each decision. Raises DecisionError, with this message, where their number is another."""
    if len(decisions) != len(review.actions):
        raise DecisionError(
            message.format(given=len(decisions), asked=len(review.actions)), field="decisions"
        )
    return [Place(review, action, index) for index, action in enumerate(review.actions)]


class Spoken(NamedTuple):
    """What was decided on one action, nothing left to look up. `answer` is a person's own, as a value."""

    kind: DecisionType
    message: str | None
    name: str
    args: JsonObject
    answer: Any = None


def spoken(review: Review, action: Action) -> Spoken:
    """A decision; where nobody took one (it was cancelled, or the deadline spoke) a rejection that says so.
    Raises Refused while it waits.
    """
    call = review.call(action.key)
    assert call is not None  # every action is one of the calls
    decision, name = action.decision, review.tool(call)
    args = review.arguments(action.key).parse()
    withdrawn = review.cancelled is not None and (
        decision is None or decision.type in ("approve", "edit")
    )
    if decision is None and not withdrawn:
        raise Refused("not_decided", f"{call.name} is not decided yet.")
    if decision is None or withdrawn:
        return Spoken("reject", _told(review, action), call.name, args)
    message = decision.message
    if decision.type == "reject" and decision.by is None and not message:
        message = _told(review, action)
    return Spoken(decision.type, message, name, args, decision.answer)


def rejected_instead(review: Review, action: Action) -> Spoken:
    """Skipping, where a system has no word for it: told as a rejection."""
    said = spoken(review, action)
    return said._replace(kind="reject", message=_told(review, action))


def unsayable(dialect: DialectName, said: Spoken) -> Unsayable:
    return Unsayable(
        dialect, said.kind, f"{dialect} takes no answer that says {said.kind} on {said.name}."
    )


def _told(review: Review, action: Action) -> str:
    """What the model is told in any other framework."""
    call_id = action.request.tool_call_id
    return next(each.content for each in answers(review) if each.tool_call_id == call_id)
