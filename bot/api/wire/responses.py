"""The response models. The OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hitl_core.model import DecisionType, DialectName, Status

Time = Annotated[float, Field(description="Seconds since the epoch, by the server's clock.")]


class ResponseModel(BaseModel):
    """Later versions may add keys: a client must ignore unknown keys."""

    model_config = ConfigDict(frozen=True)


class Person(ResponseModel):
    """The person who decided, in a workspace or on the command line."""

    channel: str
    team: str
    id: str
    name: str


class DecisionOut(ResponseModel):
    """The decision on one action. `by` is null if the deadline decided. `by.channel` is `policy` if the
    policy denied a call of an interrupt.
    """

    type: DecisionType
    by: Person | None
    at: Time
    message: str | None
    name: str | None = Field(description="The new tool, if an edit changed the tool.")
    answer: Any = Field(description="The person's answer to a question with a schema.")


class ActionOut(ResponseModel):
    """A call on which people decide."""

    tool_call_id: str
    name: str
    description: str
    allowed_decisions: list[DecisionType]
    decision: DecisionOut | None


class CancelledOut(ResponseModel):
    """`by` is null if the agent itself withdrew the review."""

    by: Person | None
    at: Time
    reason: str | None


class CallOut(ResponseModel):
    """A call to run, with edits applied. Call `once` before it starts."""

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
    """What the agent must do next. `jump_to_model`: there is no call to execute."""

    execute: list[CallOut]
    answers: list[AnswerOut]
    jump_to_model: bool


class ReviewOut(ResponseModel):
    """One model turn. `outcome` is null while people are asked: the review is pending or a call
    is in doubt.
    """

    id: str
    thread_id: str
    turn: str = Field(description="The turn as it was submitted, or `#` and a number.")
    path: list[str] = Field(
        description="For an interrupt of a sub-agent: the agents that led to it, outermost first."
    )
    requester: str | None
    status: Status
    created_at: Time
    settled_at: Time | None
    done_at: Time | None
    cancelled: CancelledOut | None
    actions: list[ActionOut]
    in_doubt: list[str] = Field(
        description="Tool call ids. A process died between `once` and `done`, so a person is asked"
        " whether the call ran."
    )
    outcome: OutcomeOut | None
    dialect: DialectName = Field(
        description="The system whose format the answer has; for an interrupt its own system."
    )
    resume: Any = Field(
        description="Set together with `outcome`: the value that resumes an interrupt of that system. Null"
        " if nobody was asked, and if the system can't express the result: Agent Inbox can't express a"
        " cancelled review."
    )


class ReviewList(ResponseModel):
    """Some of the agent's reviews."""

    reviews: list[ReviewOut]


class OnceOut(ResponseModel):
    """`run` is true exactly once: then run the tool now. False: the call was started before, or is over."""

    run: bool
    idempotency_key: str = Field(
        description="The same for every attempt of this call: pass it to the service that the tool calls."
    )
    fencing_token: int = Field(
        description="Increases with every attempt of this call. The service that the tool calls can refuse a"
        " number that is smaller than the largest that it has seen."
    )
    lease_until: Time | None = Field(
        description="By the clock of the server's Redis. Null if the review is done."
    )


class RenewOut(ResponseModel):
    """The new end of the holder's lease."""

    lease_until: Time


class ProblemOut(ResponseModel):
    """A problem (RFC 9457). `code` is stable and for programs. `detail` is a sentence for people; it begins
    with the JSON Pointer of the wrong value in the body, if it is about one value.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
