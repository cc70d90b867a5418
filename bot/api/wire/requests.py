"""What goes over the wire inwards: bodies and queries. The OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hitl_core.gate.submission.judging import MAX_CALLS
from hitl_core.model import DialectName
from hitl_core.model.call import MAX_ID, TOOL_NAME

#: Bounds of a lease, in seconds: shorter ones end between two requests, longer ones hold up a takeover.
MIN_LEASE, MAX_LEASE, DEFAULT_LEASE = 5, 3600, 60
#: The longest that a request may wait, in seconds.
MAX_WAIT = 60
#: The most reviews in one answer.
MAX_LIST = 100
#: The most tools that a turn may tell of.
MAX_TOOLS = 500


class RequestModel(BaseModel):
    """Frozen, and strict: an unknown key or a number in place of text is refused, not guessed at."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Name = Annotated[str, Field(min_length=1, max_length=256)]
CallId = Annotated[
    str,
    Field(min_length=1, max_length=MAX_ID, description="The model's own id of the call."),
]
HolderName = Annotated[
    str,
    Field(
        default="",
        max_length=128,
        description="Which of the agent's processes asks. Each process that can die on its own"
        " needs a name of its own; the same name goes on with what it holds.",
    ),
]
LeaseSeconds = Annotated[
    float,
    Field(
        default=DEFAULT_LEASE,
        ge=MIN_LEASE,
        le=MAX_LEASE,
        description="For how many seconds the review is this holder's, from now.",
    ),
]


ToolName = Annotated[
    str,
    Field(pattern=f"^{TOOL_NAME.pattern}$", description="The tool's name, as the policy has it."),
]
Args = Annotated[
    dict[str, Any],
    Field(
        description="The arguments, a JSON object of at most 256 KiB and 32 levels. `1` and `1.0`"
        " are different bytes, and stay what they are."
    ),
]


class CallIn(RequestModel):
    """A tool call, as the model made it."""

    id: CallId
    name: ToolName
    args: Args


class TurnIn(RequestModel):
    """What every turn may say, however it asks."""

    thread_id: Name = Field(description="The conversation that the turn belongs to.")
    requester: Name | None = Field(
        default=None, description="The chat user on whose behalf the agent acts."
    )
    origin: Name | None = Field(
        default=None,
        description="The thread in which that person asked the agent, `slack:C0123ABCD/1700000000.000100`:"
        " where a policy says `origin`, people are asked there.",
    )
    tools: dict[ToolName, dict[str, Any] | None] = Field(
        default_factory=dict,
        max_length=MAX_TOOLS,
        description="The agent's tools, by name, each with the JSON Schema of its arguments or null."
        " Where the policy has no schema this one is enforced, and an edit may name another of them"
        " where the policy allows that one too. At most 256 KiB together.",
    )
    context: dict[str, Any] | None = Field(
        default=None,
        description="This run's own configuration, with the keys of a policy: it may make the policy"
        " stricter. At most 256 KiB.",
    )


class Submit(TurnIn):
    """One model turn: all of its tool calls, also those that need nobody."""

    calls: list[CallIn] = Field(min_length=1, max_length=MAX_CALLS)
    turn: Name | None = Field(
        default=None,
        description="The turn's own name, say the id of the model's message. With it, submitting again"
        " finds the same review for ever; without one, the next review starts when the last is done.",
    )


class SubmitInterrupt(TurnIn):
    """What an agent's own system raised to ask people. Several interrupts in one become a review each; where
    not all of them could be stored, send it again: those that were are found.
    """

    interrupt: Any = Field(description="As it is, of any system that `dialect` names.")
    dialect: DialectName | None = Field(
        default=None,
        description="Whose it is: needed for `xpertai` only, which writes as `langchain_js` does.",
    )
    turn: Name = Field(
        description="The turn's own name: the interrupt's id, or that of the model's message. An"
        " interrupt that says the same again is a new question under a new name, and finds its old"
        " answer under the same."
    )
    calls: list[CallIn] = Field(
        default_factory=list[CallIn],
        max_length=MAX_CALLS,
        description="All calls of the turn, where they are known: the review keeps their ids, and the"
        " policy judges also those that the interrupt does not ask about.",
    )


class OnceIn(RequestModel):
    """Which call is about to start."""

    tool_call_id: CallId
    name: ToolName | None = Field(
        default=None, description="The tool about to run: checked, where it is given."
    )
    args: Args | None = Field(
        default=None,
        description="The arguments that it is about to run with: checked against what was decided,"
        " where they are given. Numbers are compared by their value.",
    )
    holder: HolderName
    lease: LeaseSeconds


class Renew(RequestModel):
    """A sign of life."""

    holder: HolderName
    lease: LeaseSeconds


class Done(RequestModel):
    """What came of the calls that ran."""

    results: dict[str, str] = Field(
        default_factory=dict,
        max_length=MAX_CALLS,
        description="By tool call id, a text each: the first line of it is shown on the card.",
    )
    holder: HolderName


class Cancel(RequestModel):
    """Why nobody needs to decide any more."""

    reason: str | None = Field(default=None, max_length=500)


class Query(RequestModel):
    """What stands after the question mark: text, read as what it stands for."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


WaitSeconds = Annotated[
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

    wait: WaitSeconds


class ListQuery(Query):
    """Either a thread's reviews, or those that are ready to be taken up."""

    thread_id: Name | None = Field(default=None, description="The reviews of this thread.")
    status: Literal["settled"] | None = Field(
        default=None,
        description="The reviews that can be taken up now, the longest waiting first: what a worker"
        " serves, and what a process that died has left behind.",
    )
    wait: WaitSeconds
    limit: Annotated[int, Field(default=MAX_LIST, ge=1, le=MAX_LIST)]
