"""Answers: other systems' words become checked proposals, and decisions are said in those words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, Protocol

from hitl_core.dialects.parts.json import Json, check_wire
from hitl_core.errors import (
    DecisionError,
    DialectError,
    HitlError,
    InvalidToolCall,
    Refused,
    UnsupportedByDialect,
)
from hitl_core.gate.outcome.answers import answers, is_cancelled
from hitl_core.model import Action, DecisionType, DialectName, Review, encode
from hitl_core.model.arguments import JsonObject
from hitl_core.review.proposal import Proposal, final_answer, final_args, final_message

#: As other systems call our decisions.
ALIASES: dict[str, DecisionType] = {"accept": "approve", "response": "respond"}
#: The channel of a decision that the policy itself took at once: it denied what an interrupt asks about.
POLICY = "policy"


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """Where in an answer we are: what every complaint names."""

    review: Review
    action: Action
    index: int

    @property
    def tool(self) -> str:
        return self.action.request.name

    @property
    def decision_types(self) -> tuple[DecisionType, ...]:
        return self.action.config.allowed_decisions

    def fail(self, message: str, field: str, code: str = "bad_answer") -> NoReturn:
        raise DecisionError(message, index=self.index, tool=self.tool, field=field, code=code)

    def check_id(self, decision: Json) -> None:
        """An answer may say which call each decision is for; then it is that one, or none."""
        call_id = decision.get("tool_call_id")
        if call_id is not None and call_id != self.action.request.tool_call_id:
            self.fail(
                f"Decision {self.index} is for the call {call_id!r:.80}, but action {self.index} is"
                f" {self.action.request.tool_call_id!r}.",
                "tool_call_id",
            )

    def make_proposal(
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
            result = Proposal(
                kind, self.action.revision, message, edited, name, answer, verbatim=True
            )
            final_args(self.review, self.action, result)
            final_answer(self.action, result)
            final_message(self.action, result)
        except InvalidToolCall as error:
            self.fail(f"Decision {self.index} on {self.tool}: {error}", field)
        except DecisionError as error:
            pointer = error.field or ""
            path = field + pointer.replace("/", ".")
            self.fail(f"{path}: {str(error).removeprefix(f'{pointer}: ')}", path, error.code)
        except Refused as error:
            renames = name not in (None, self.tool)
            self.fail(
                str(error), f"{field.removesuffix('args')}name" if renames else field, error.code
            )
        except HitlError as error:  # a schema that can't be used
            self.fail(f"Decision {self.index} on {self.tool} can't be checked: {error}", field)
        return result


def read_answer(wire: object, *, javascript: bool = False) -> Any:
    """An answer of a size to work with. Raises DecisionError."""
    try:
        return check_wire(wire, javascript=javascript)
    except DialectError as error:
        raise DecisionError(f"The answer can't be read. {error}") from error


def answer_items(review: Review, decisions: Sequence[object], message: str) -> list[AnswerItem]:
    """One for each decision. Raises DecisionError, with this message, where their number is another."""
    if len(decisions) != len(review.actions):
        raise DecisionError(
            message.format(given=len(decisions), asked=len(review.actions)), field="decisions"
        )
    return [AnswerItem(review, action, index) for index, action in enumerate(review.actions)]


class FinalDecision(NamedTuple):
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
    model_text: str = ""


def final_decision(review: Review, action: Action) -> FinalDecision:
    """The decision. Of a cancelled review a rejection that says so, unless the decision is a no; and a
    deadline's rejection says why. Raises Refused while it waits.
    """
    call = review.call(action.key)
    assert call is not None  # every action is one of the calls
    decision, name = action.decision, review.tool_name(call)
    args = review.arguments(action.key).parse()
    is_void_decision = is_cancelled(review, decision)
    if decision is None and not is_void_decision:
        raise Refused("not_decided", f"{call.name} is not decided yet.")
    model_text = _model_text(review, action)
    if decision is None or is_void_decision:
        return FinalDecision(
            "reject", model_text, call.name, args, by_person=False, model_text=model_text
        )
    by_person = decision.by is not None and decision.by.channel != POLICY
    message = decision.message
    if decision.type == "reject" and decision.by is None and not message:
        message = model_text
    return FinalDecision(decision.type, message, name, args, decision.answer, by_person, model_text)


def interrupt_decisions(action: Action) -> tuple[DecisionType, ...]:
    """What the interrupt itself allows: of a review that none asked for, what may be decided."""
    return action.request.takes or action.config.allowed_decisions


def to_rejection(final: FinalDecision) -> FinalDecision:
    """Where a system has no word for skipping a call, that is told as a rejection."""
    return (
        final._replace(kind="reject", message=final.model_text) if final.kind == "ignore" else final
    )


class DecisionDumper(Protocol):
    """Of a dialect what `words_of` needs."""

    @property
    def name(self) -> DialectName: ...

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Any: ...


def dump_each(dialect: DecisionDumper, review: Review) -> list[Any]:
    """The word for each action, in their order. Raises Unsayable, and Refused while one waits."""
    return [dump_or_raise(dialect, review, action) for action in review.actions]


def dump_or_raise(dialect: DecisionDumper, review: Review, action: Action) -> Any:
    """Raises Unsayable, and Refused while it waits."""
    final = final_decision(review, action)
    if (word := dialect.dump_decision(review, action, final)) is None:
        raise unsayable_error(dialect.name, final)
    return word


def unsayable_error(dialect: DialectName, final: FinalDecision) -> UnsupportedByDialect:
    return UnsupportedByDialect(
        dialect, final.kind, f"{dialect} takes no answer that says {final.kind} on {final.name}."
    )


def _model_text(review: Review, action: Action) -> str:
    """What the model is told in any other framework."""
    call_id = action.request.tool_call_id
    texts = (each.content for each in answers(review) if each.tool_call_id == call_id)
    return next(texts, "")
