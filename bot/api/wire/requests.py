"""The request models: bodies and queries. The OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from hitl_core.gate import MAX_CALLS
from hitl_core.model import MAX_ID, MAX_REASON, TOOL_NAME, DialectName

#: The limits of a lease, in seconds. A shorter lease could end between two requests; a longer one would delay
#: a takeover.
MIN_LEASE, MAX_LEASE, DEFAULT_LEASE = 5, 3600, 60
#: The longest that a request may wait, in seconds.
MAX_WAIT = 60
#: The most reviews in one answer.
MAX_LIST = 100
#: The most tools in a turn.
MAX_TOOLS = 500


class RequestModel(BaseModel):
    """Frozen and strict: an unknown key, or a number instead of text, is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _at_most(most: int) -> BeforeValidator:
    """Counts the keys before any other check, because checking thousands of wrong keys would take long."""

    def count(value: Any) -> Any:
        if isinstance(value, dict) and len(cast(dict[str, Any], value)) > most:
            text = "At most {most} keys are allowed here"
            raise PydanticCustomError("too_long", text, {"most": most})
        return cast(Any, value)

    return BeforeValidator(count)


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
        description="The name of the agent's process. Each process that can die on its own needs its own"
        " name; a request with the same name continues its claims.",
    ),
]
LeaseSeconds = Annotated[
    float,
    Field(
        default=DEFAULT_LEASE,
        ge=MIN_LEASE,
        le=MAX_LEASE,
        description="How many seconds, from now, this holder keeps the review.",
    ),
]


ToolName = Annotated[
    str,
    Field(pattern=f"^{TOOL_NAME.pattern}$", description="The tool's name, as in the policy."),
]
Args = Annotated[
    dict[str, Any],
    Field(
        description="The arguments, a JSON object of at most 256 KiB and 32 levels. `1` and `1.0`"
        " are different bytes and are kept as they are."
    ),
]


class CallIn(RequestModel):
    """A tool call as the model made it."""

    id: CallId
    name: ToolName
    args: Args
    reason: str | None = Field(
        default=None,
        max_length=MAX_REASON,
        description="Why the agent wants this call. People read it below the arguments, quoted as the agent's"
        " words.",
    )


class TurnIn(RequestModel):
    """The keys that every submitted turn may have."""

    thread_id: Name = Field(description="The conversation that the turn belongs to.")
    requester: Name | None = Field(
        default=None, description="The chat user on whose behalf the agent acts."
    )
    origin: Name | None = Field(
        default=None,
        description="The thread in which that person asked the agent,"
        " `slack:C0123ABCD/1700000000.000100` or `teams:19:…@thread.tacv2/1700000000000`."
        " If the policy says `origin`, people are asked there.",
    )
    tools: Annotated[dict[ToolName, dict[str, Any] | None], _at_most(MAX_TOOLS)] = Field(
        default_factory=dict,
        max_length=MAX_TOOLS,
        description="The agent's tools by name, each with the JSON Schema of its arguments or null. A"
        " schema is enforced if the policy has none for that tool. An edit may change to another of these"
        " tools if the policy allows it. At most 256 KiB together.",
    )
    context: dict[str, Any] | None = Field(
        default=None,
        description="A configuration for this run with the keys of a policy. It can only make the policy"
        " stricter. At most 256 KiB.",
    )


class Submit(TurnIn):
    """One model turn: all of its tool calls, including those that need no approval."""

    calls: list[CallIn] = Field(min_length=1, max_length=MAX_CALLS)
    turn: Name | None = Field(
        default=None,
        description="The turn's own name, for example the id of the model's message. With it, a repeated"
        " submission always finds the same review; without it, a new review starts after the last one is"
        " done.",
    )


class SubmitInterrupt(TurnIn):
    """An interrupt of the agent's own framework. Several interrupts become one review each. If not all of
    them could be stored, send the request again: the stored ones are found.
    """

    interrupt: Any = Field(description="The interrupt, unchanged, of any system in `dialect`.")
    dialect: DialectName | None = Field(
        default=None,
        description="The system of the interrupt. Only needed for `xpertai`, which has the format of"
        " `langchain_js`.",
    )
    turn: Name = Field(
        description="The turn's own name: the id of the interrupt or of the model's message. An equal"
        " interrupt with a new name is a new question; with the same name it gets the earlier answer."
    )
    calls: list[CallIn] = Field(
        default_factory=list[CallIn],
        max_length=MAX_CALLS,
        description="All calls of the turn, if they are known. The review keeps their ids, and the policy"
        " also judges calls that the interrupt does not ask about.",
    )


class OnceIn(RequestModel):
    """The call that is about to start."""

    tool_call_id: CallId
    name: ToolName | None = Field(
        default=None, description="The tool that is about to run. It is checked if it is sent."
    )
    args: Args | None = Field(
        default=None,
        description="The arguments of the call that is about to run. If they are sent, they are compared"
        " with the decided ones; numbers by value.",
    )
    holder: HolderName
    lease: LeaseSeconds


class Renew(RequestModel):
    """Renews the holder's lease."""

    holder: HolderName
    lease: LeaseSeconds


class Done(RequestModel):
    """The results of the calls that ran: of each one that `once` has started."""

    results: Annotated[dict[str, str], _at_most(MAX_CALLS)] = Field(
        default_factory=dict,
        max_length=MAX_CALLS,
        description="Tool call id → text. Its first line is shown on the card.",
    )
    holder: HolderName


class Cancel(RequestModel):
    """Why the review is withdrawn."""

    reason: str | None = Field(default=None, max_length=500)


class Query(RequestModel):
    """The query of a URL: text that is parsed as the declared types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


WaitSeconds = Annotated[
    float,
    Field(
        default=0,
        ge=0,
        le=MAX_WAIT,
        description="How many seconds the request waits if there is no result yet.",
    ),
]


class ReviewQuery(Query):
    """How long to wait for people's decisions."""

    wait: WaitSeconds


class ListQuery(Query):
    """Either the reviews of a thread, or those that are ready to be claimed."""

    thread_id: Name | None = Field(default=None, description="The reviews of this thread.")
    status: Literal["settled"] | None = Field(
        default=None,
        description="The reviews that can be claimed now, longest waiting first: new work for a worker, and"
        " reviews of a process that died.",
    )
    wait: WaitSeconds
    limit: Annotated[int, Field(default=MAX_LIST, ge=1, le=MAX_LIST)]
