"""Translates answers: other systems' decisions into checked proposals, and our decisions into answers."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from hitl_core.errors import (
    Refused,
    UnsupportedByDialect,
)
from hitl_core.gate import answers, is_cancelled
from hitl_core.model import Action, DecisionType, DialectName, JsonObject, Review

#: The channel of a decision that the policy itself made: it denied a call that an interrupt asks about.
POLICY = "policy"


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
