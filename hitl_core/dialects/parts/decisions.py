"""Translates answers: other systems' decisions into checked proposals, and our decisions into answers."""

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
    RefusalCode,
    Refused,
    UnsupportedByDialect,
)
from hitl_core.gate import answers, is_cancelled
from hitl_core.model import Action, DecisionType, DialectName, JsonObject, Review, encode
from hitl_core.review import NO_ANSWER, Proposal, final_answer, final_args, final_message

#: Other systems' names of our decisions.
ALIASES: dict[str, DecisionType] = {"accept": "approve", "response": "respond"}
#: The channel of a decision that the policy itself made: it denied a call that an interrupt asks about.
POLICY = "policy"


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """One decision of an answer: its action and its position, which every error names."""

    review: Review
    action: Action
    index: int

    @property
    def tool(self) -> str:
        return self.action.request.name

    @property
    def decision_types(self) -> tuple[DecisionType, ...]:
        return self.action.config.allowed_decisions

    def fail(self, message: str, field: str, code: RefusalCode = "bad_answer") -> NoReturn:
        raise DecisionError(message, index=self.index, tool=self.tool, field=field, code=code)

    def check_id(self, decision: Json) -> None:
        """Fails if the decision names a call that is not the call of this action."""
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
        """A proposal, checked like a stored one. `field`: the path of the new arguments or the answer."""
        try:
            edited = encode(args) if kind == "edit" else None
            given = NO_ANSWER if answer is None else answer
            result = Proposal(
                kind, self.action.revision, message, edited, name, given, verbatim=True
            )
            final_args(self.review, self.action, result)
            final_answer(self.review, self.action, result)
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
        except HitlError as error:  # for example a schema that can't be used
            self.fail(f"Decision {self.index} on {self.tool} can't be checked: {error}", field)
        return result


def read_answer(wire: object, *, javascript: bool = False) -> Any:
    """The answer, checked for its size. Raises DecisionError."""
    try:
        return check_wire(wire, javascript=javascript)
    except DialectError as error:
        raise DecisionError(f"The answer can't be read. {error}") from error


def answer_items(review: Review, decisions: Sequence[object], message: str) -> list[AnswerItem]:
    """One item for each decision. Raises DecisionError with this message if there are too few or too many."""
    if len(decisions) != len(review.actions):
        raise DecisionError(
            message.format(given=len(decisions), asked=len(review.actions)), field="decisions"
        )
    return [AnswerItem(review, action, index) for index, action in enumerate(review.actions)]


class FinalDecision(NamedTuple):
    """The result of one action, with everything that a dialect needs.

    - `answer`: a person's answer as a value;
    - `by_person`: False for a deadline, the policy or a cancellation;
    - `model_text`: the text that the model would get in any framework.
    """

    kind: DecisionType
    message: str | None
    name: str
    args: JsonObject
    answer: Any = None
    by_person: bool = True
    model_text: str = ""


def final_decision(review: Review, action: Action) -> FinalDecision:
    """The final decision on an action. Raises Refused while it is undecided.

    It becomes a rejection, with the reason, if the review was cancelled, unless the action was already
    rejected or ignored. The same holds if the call was in doubt and a person said that it ran, or skipped it:
    an approval would run it, maybe again. A rejection by the deadline gets a reason.
    """
    call = review.call(action.key)
    assert call is not None  # every action is one of the calls
    decision, name = action.decision, review.tool_name(call)
    args = review.arguments(action.key).parse()
    is_void_decision = is_cancelled(review, decision)
    if decision is None and not is_void_decision:
        raise Refused("not_decided", f"{call.name} is not decided yet.")
    model_text = _model_text(review, action)
    if decision is None or is_void_decision or _is_closed_after_doubt(review, action):
        return FinalDecision(
            "reject", model_text, call.name, args, by_person=False, model_text=model_text
        )
    by_person = decision.by is not None and decision.by.channel != POLICY
    message = decision.message
    if decision.type == "reject" and decision.by is None and not message:
        message = model_text
    return FinalDecision(decision.type, message, name, args, decision.answer, by_person, model_text)


def _is_closed_after_doubt(review: Review, action: Action) -> bool:
    """Whether the call was approved, its process died, and it will not run again: a person said so, or it was
    not started again.
    """
    run = review.runs.get(action.key)
    return run is not None and (run.state == "skipped" or (run.state == "done" and bool(run.by)))


def interrupt_decisions(action: Action) -> tuple[DecisionType, ...]:
    """The decisions that the interrupt allows; without an interrupt, those that the action allows."""
    return action.request.accepted_decisions or action.config.allowed_decisions


def to_rejection(final: FinalDecision) -> FinalDecision:
    """The decision, with `ignore` changed into a rejection, for a system that can't ignore a call."""
    return (
        final._replace(kind="reject", message=final.model_text) if final.kind == "ignore" else final
    )


class DecisionDumper(Protocol):
    """The part of a dialect that `dump_each` needs."""

    @property
    def name(self) -> DialectName: ...

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Any: ...


def dump_each(dialect: DecisionDumper, review: Review) -> list[Any]:
    """The part of the answer for each action, in order. Raises UnsupportedByDialect, and Refused while one is
    undecided.
    """
    return [dump_or_raise(dialect, review, action) for action in review.actions]


def dump_or_raise(dialect: DecisionDumper, review: Review, action: Action) -> Any:
    """The part of the answer for one action. Raises UnsupportedByDialect, and Refused while it is
    undecided.
    """
    final = final_decision(review, action)
    if (decision := dialect.dump_decision(review, action, final)) is None:
        raise unsupported_error(dialect.name, final)
    return decision


def unsupported_error(dialect: DialectName, final: FinalDecision) -> UnsupportedByDialect:
    return UnsupportedByDialect(
        dialect, final.kind, f"{dialect} can't receive the decision {final.kind} on {final.name}."
    )


def _model_text(review: Review, action: Action) -> str:
    """The text that the model would get in any other framework."""
    call_id = action.request.tool_call_id
    texts = (each.content for each in answers(review) if each.tool_call_id == call_id)
    return next(texts, "")
