"""What goes over the wire outwards. The OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hitl_core.model import DecisionType, DialectName, Status

Time = Annotated[float, Field(description="Seconds since the epoch, by the server's clock.")]


class ResponseModel(BaseModel):
    """Later versions may add keys: a client ignores those that it does not know."""

    model_config = ConfigDict(frozen=True)


class Person(ResponseModel):
    """Who decided: a person of one workspace, or of the command line."""

    channel: str
    team: str
    id: str
    name: str


class DecisionOut(ResponseModel):
    """What was decided on one action. `by` is null where its deadline decided; its channel is `policy` where
    the policy denied what an interrupt asks about.
    """

    type: DecisionType
    by: Person | None
    at: Time
    message: str | None
    name: str | None = Field(
        description="The tool that an edit named in place of the one asked for."
    )
    answer: Any = Field(description="The value that a person gave to a question with a schema.")


class ActionOut(ResponseModel):
    """A call that people are asked about."""

    tool_call_id: str
    name: str
    description: str
    allowed_decisions: list[DecisionType]
    decision: DecisionOut | None


class CancelledOut(ResponseModel):
    """`by` is null where the agent itself withdrew the review."""

    by: Person | None
    at: Time
    reason: str | None


class CallOut(ResponseModel):
    """A call to run, edits applied. Ask `once` before it starts."""

    id: str
    name: str
    args: dict[str, Any]


class AnswerOut(ResponseModel):
    """The tool message for a call that must not run."""

    tool_call_id: str
    name: str
    content: str
    status: Literal["success", "error"]


class OutcomeOut(ResponseModel):
    """What the agent does next. `jump_to_model`: there is nothing to execute."""

    execute: list[CallOut]
    answers: list[AnswerOut]
    jump_to_model: bool


class ReviewOut(ResponseModel):
    """One model turn. `outcome` is null while people are asked: it is pending, or a call is in doubt."""

    id: str
    thread_id: str
    turn: str = Field(description="As it was submitted, or `#` and a number.")
    path: list[str] = Field(
        description="The agents that led to it, the outermost first: of an interrupt that a sub-agent raised."
    )
    requester: str | None
    status: Status
    created_at: Time
    settled_at: Time | None
    done_at: Time | None
    cancelled: CancelledOut | None
    actions: list[ActionOut]
    in_doubt: list[str] = Field(
        description="Tool call ids: a process died between `once` and `done`, so a person is asked"
        " whether the call ran."
    )
    outcome: OutcomeOut | None
    dialect: DialectName = Field(
        description="The system in whose words the model is answered: of an interrupt its own."
    )
    resume: Any = Field(
        description="There with the outcome: what to resume an interrupt of that system with, exactly as"
        " it takes it. Null where nobody was asked, and where the system has no word for what came of it,"
        " as Agent Inbox has none for a cancelled review."
    )


class ReviewList(ResponseModel):
    """Some of the agent's reviews."""

    reviews: list[ReviewOut]


class OnceOut(ResponseModel):
    """`run` is true exactly once: then run the tool, at once. False: it was started before, or is over."""

    run: bool
    idempotency_key: str = Field(
        description="The same for every attempt of this call: hand it to what the tool calls."
    )
    fencing_token: int = Field(
        description="Increases with every attempt of this call: what the tool calls can refuse one that is"
        " smaller than the greatest it has seen."
    )
    lease_until: Time | None = Field(description="Null where the review is done.")


class RenewOut(ResponseModel):
    """Until when the review is this holder's."""

    lease_until: Time


class ProblemOut(ResponseModel):
    """RFC 9457. `code` is stable and for programs; `detail` is a sentence for people, and begins with the
    JSON pointer of what is wrong in the body, where one value is.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
