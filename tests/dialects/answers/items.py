"""One decision of an answer, with its position, which every error names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from hitl_core.dialects.parts import Json, check_wire
from hitl_core.errors import (
    DecisionError,
    DialectError,
    HitlError,
    InvalidToolCall,
    RefusalCode,
    Refused,
)
from hitl_core.model import Action, DecisionType, Review, encode
from hitl_core.review import NO_ANSWER, Proposal, final_answer, final_args, final_message

#: LangChain's text, the same in both languages.
COUNT_MESSAGE = (
    "Number of human decisions ({given}) does not match number of hanging tool calls ({asked})."
)


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


def not_allowed_message(item: AnswerItem, decision_text: str, kind: object, expected: str) -> str:
    """LangChain's text, the same in both languages."""
    return (
        f"Unexpected human decision: {decision_text}. Decision type '{kind}' is not allowed for tool"
        f" '{item.tool}'. Expected one of {expected} based on the tool's configuration."
    )


def first_value(value: Mapping[str, Any], *keys: str) -> Any:
    """The value of the first of these keys that exists; None if none does."""
    return next((value[key] for key in keys if key in value), None)
