"""What goes over the wire, in and out. The OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hitl_core.gate.request import MAX_CALLS
from hitl_core.model import DecisionType, Status
from hitl_core.model.call import MAX_ID, TOOL_NAME

#: Bounds of a lease, in seconds: shorter ones end between two requests, longer ones hold up a takeover.
MIN_LEASE, MAX_LEASE, LEASE = 5, 3600, 60
#: The longest that a request may wait, in seconds.
MAX_WAIT = 60
#: The most reviews in one answer.
MAX_LIST = 100


class Shape(BaseModel):
    """Frozen, and strict: an unknown key or a number in place of text is refused, not guessed at."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Name = Annotated[str, Field(min_length=1, max_length=256)]
CallId = Annotated[
    str,
    Field(min_length=1, max_length=MAX_ID, description="The model's own id of the call."),
]
Time = Annotated[float, Field(description="Seconds since the epoch, by the server's clock.")]
Holder = Annotated[
    str,
    Field(
        default="",
        max_length=128,
        description="Which of the agent's processes asks. Each process that can die on its own"
        " needs a name of its own; the same name goes on with what it holds.",
    ),
]
LeaseFor = Annotated[
    float,
    Field(
        default=LEASE,
        ge=MIN_LEASE,
        le=MAX_LEASE,
        description="For how many seconds the review is this holder's, from now.",
    ),
]


# ------------------------------------------------------------------------------------------- in


class CallIn(Shape):
    """A tool call, as the model made it."""

    id: CallId
    name: str = Field(
        pattern=f"^{TOOL_NAME.pattern}$", description="The tool's name, as the policy has it."
    )
    args: dict[str, Any] = Field(
        description="The arguments, a JSON object of at most 256 KiB and 32 levels. `1` and `1.0`"
        " are different bytes, and stay what they are."
    )


class Submit(Shape):
    """One model turn: all of its tool calls, also those that need nobody."""

    thread_id: Name = Field(description="The conversation that the turn belongs to.")
    calls: list[CallIn] = Field(min_length=1, max_length=MAX_CALLS)
    turn: Name | None = Field(
        default=None,
        description="The turn's own name, say the id of the model's message. With it, submitting again"
        " finds the same review for ever; without one, the next review starts when the last is done.",
    )
    requester: Name | None = Field(
        default=None, description="The chat user on whose behalf the agent acts."
    )


class OnceIn(Shape):
    """Which call is about to start."""

    tool_call_id: CallId
    holder: Holder
    lease: LeaseFor


class Renew(Shape):
    """A sign of life."""

    holder: Holder
    lease: LeaseFor


class Done(Shape):
    """What came of the calls that ran."""

    results: dict[str, str] = Field(
        default_factory=dict,
        max_length=MAX_CALLS,
        description="By tool call id, a text each: the first line of it is shown on the card.",
    )
    holder: Holder


class Cancel(Shape):
    """Why nobody needs to decide any more."""

    reason: str | None = Field(default=None, max_length=500)


class Query(Shape):
    """What stands after the question mark: text, read as what it stands for."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


Wait = Annotated[
    float,
    Field(
        default=0,
        ge=0,
        le=MAX_WAIT,
        description="For how many seconds the answer may take, where there is nothing to tell yet.",
    ),
]


class ReviewQuery(Query):
    """How long to wait for people."""

    wait: Wait


class ListQuery(Query):
    """Either a thread's reviews, or those that are ready to be taken up."""

    thread_id: Name | None = Field(default=None, description="The reviews of this thread.")
    status: Literal["settled"] | None = Field(
        default=None,
        description="The reviews that can be taken up now, the longest waiting first: what a worker"
        " serves, and what a process that died has left behind.",
    )
    wait: Wait
    limit: Annotated[int, Field(default=MAX_LIST, ge=1, le=MAX_LIST)]


# ------------------------------------------------------------------------------------------ out


class Answer(BaseModel):
    """Later versions may add keys: a client ignores those that it does not know."""

    model_config = ConfigDict(frozen=True)


class Person(Answer):
    """Who decided: a person of one workspace."""

    channel: str
    team: str
    id: str
    name: str


class DecisionOut(Answer):
    """What was decided on one action. `by` is null where its deadline decided."""

    type: DecisionType
    by: Person | None
    at: Time
    message: str | None


class ActionOut(Answer):
    """A call that people are asked about."""

    tool_call_id: str
    name: str
    description: str
    allowed_decisions: list[DecisionType]
    decision: DecisionOut | None


class CancelledOut(Answer):
    """`by` is null where the agent itself withdrew the review."""

    by: Person | None
    at: Time
    reason: str | None


class CallOut(Answer):
    """A call to run, edits applied. Ask `once` before it starts."""

    id: str
    name: str
    args: dict[str, Any]


class AnswerOut(Answer):
    """The tool message for a call that must not run."""

    tool_call_id: str
    name: str
    content: str
    status: Literal["success", "error"]


class OutcomeOut(Answer):
    """What the agent does next. `jump_to_model`: there is nothing to execute."""

    execute: list[CallOut]
    answers: list[AnswerOut]
    jump_to_model: bool


class ReviewOut(Answer):
    """One model turn. `outcome` is null while people are asked: it is pending, or a call is in doubt."""

    id: str
    thread_id: str
    turn: str = Field(description="As it was submitted, or `#` and a number.")
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


class ReviewList(Answer):
    """Some of the agent's reviews."""

    reviews: list[ReviewOut]


class OnceOut(Answer):
    """`run` is true exactly once: then run the tool, at once. False: it was started before, or is over."""

    run: bool
    idempotency_key: str = Field(
        description="The same for every attempt of this call: hand it to what the tool calls."
    )
    lease_until: Time | None = Field(description="Null where the review is done.")


class RenewOut(Answer):
    """Until when the review is this holder's."""

    lease_until: Time


class ProblemOut(Answer):
    """RFC 9457. `code` is stable and for programs; `detail` is a sentence for people, and begins with the
    JSON pointer of what is wrong in the body, where one value is.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
