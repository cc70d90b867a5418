"""Answers: other systems' words become checked proposals, and decisions are said in those words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, Protocol

from hitl_core.dialects._json import Json, plain
from hitl_core.errors import (
    DecisionError,
    DialectError,
    HitlError,
    InvalidToolCall,
    Refused,
    Unsayable,
)
from hitl_core.gate.answers import answers, is_void
from hitl_core.model import Action, DecisionType, DialectName, Review, encode
from hitl_core.model.arguments import JsonObject
from hitl_core.review.proposal import Proposal, answer_of, args_of, message_of

#: As other systems call our decisions.
ALIASES: dict[str, DecisionType] = {"accept": "approve", "response": "respond"}
#: The channel of a decision that the policy itself took at once: it denied what an interrupt asks about.
POLICY = "policy"


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


class Ending(NamedTuple):
    """What came of one action, nothing left to look up. `answer` is a person's own, as a value; `by_person`:
    a person decided, and not a deadline, the policy or a cancellation; `told` is what the model would be told
    of it in any framework.
    """

    kind: DecisionType
    message: str | None
    name: str
    args: JsonObject
    answer: Any = None
    by_person: bool = True
    told: str = ""


def ending(review: Review, action: Action) -> Ending:
    """The decision. Of a cancelled review a rejection that says so, unless the decision is a no; and a
    deadline's rejection says why. Raises Refused while it waits.
    """
    call = review.call(action.key)
    assert call is not None  # every action is one of the calls
    decision, name = action.decision, review.tool(call)
    args = review.arguments(action.key).parse()
    void = is_void(review, decision)
    if decision is None and not void:
        raise Refused("not_decided", f"{call.name} is not decided yet.")
    told = _told(review, action)
    if decision is None or void:
        return Ending("reject", told, call.name, args, by_person=False, told=told)
    by_person = decision.by is not None and decision.by.channel != POLICY
    message = decision.message
    if decision.type == "reject" and decision.by is None and not message:
        message = told
    return Ending(decision.type, message, name, args, decision.answer, by_person, told)


def takes(action: Action) -> tuple[DecisionType, ...]:
    """What the interrupt itself allows: of a review that none asked for, what may be decided."""
    return action.request.takes or action.config.allowed_decisions


def as_rejection(end: Ending) -> Ending:
    """Where a system has no word for skipping a call, that is told as a rejection."""
    return end._replace(kind="reject", message=end.told) if end.kind == "ignore" else end


class Speaks(Protocol):
    """Of a dialect what `words_of` needs."""

    @property
    def name(self) -> DialectName: ...

    def word(self, review: Review, action: Action, end: Ending) -> Any: ...


def words_of(dialect: Speaks, review: Review) -> list[Any]:
    """The word for each action, in their order. Raises Unsayable, and Refused while one waits."""
    return [word_of(dialect, review, action) for action in review.actions]


def word_of(dialect: Speaks, review: Review, action: Action) -> Any:
    """Raises Unsayable, and Refused while it waits."""
    end = ending(review, action)
    if (word := dialect.word(review, action, end)) is None:
        raise unsayable(dialect.name, end)
    return word


def unsayable(dialect: DialectName, end: Ending) -> Unsayable:
    return Unsayable(
        dialect, end.kind, f"{dialect} takes no answer that says {end.kind} on {end.name}."
    )


def _told(review: Review, action: Action) -> str:
    """What the model is told in any other framework."""
    call_id = action.request.tool_call_id
    found = (each.content for each in answers(review) if each.tool_call_id == call_id)
    return next(found, "")
