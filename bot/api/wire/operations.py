"""What can be asked at the door, as a table: the document is made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ...web.problems import ProblemCode
from .requests import (
    Cancel,
    Done,
    ListQuery,
    OnceIn,
    Query,
    Renew,
    RequestModel,
    ReviewQuery,
    Submit,
    SubmitInterrupt,
)
from .responses import OnceOut, RenewOut, ResponseModel, ReviewList, ReviewOut


class Operation(NamedTuple):
    """`answers` are the good ones, by status: what each means, and its shapes. `problems` are those that not
    every operation has. `bodies`: one of these shapes, each with an example. `keyed`: it takes an
    Idempotency-Key.
    """

    method: Literal["get", "post"]
    path: str
    summary: str
    responses: Mapping[int, tuple[str, *tuple[type[ResponseModel], ...]]]
    problems: Sequence[ProblemCode]
    bodies: Mapping[type[RequestModel], Mapping[str, Any]] = {}
    body_required: bool = True
    query: type[Query] | None = None
    takes_key: bool = False


_BODY_PROBLEMS: tuple[ProblemCode, ...] = (
    "bad_json",
    "too_slow",
    "too_large",
    "unsupported_media_type",
    "invalid",
    "busy",
)
_CLAIM_PROBLEMS: tuple[ProblemCode, ...] = (
    "not_settled",
    "claimed_elsewhere",
    "in_doubt",
    "lease_lost",
    "cancelled",
    "done",
)

OPERATIONS: Sequence[Operation] = (
    Operation(
        "post",
        "/v1/reviews",
        "Submit a turn",
        {
            200: ("Found: this turn was submitted before.", ReviewOut, ReviewList),
            201: (
                "Stored: people are asked, where anybody has to be. Of several interrupts: a list.",
                ReviewOut,
                ReviewList,
            ),
        },
        (*_BODY_PROBLEMS, "no_policy_for_agent", "conflict", "no_policy"),
        {
            Submit: {
                "thread_id": "t-42",
                "turn": "msg-7",
                "calls": [{"id": "c1", "name": "send_email", "args": {"to": "ada@example.com"}}],
            },
            SubmitInterrupt: {
                "thread_id": "t-42",
                "turn": "5c2b1a0f",
                "interrupt": {
                    "actionRequests": [{"name": "send_email", "args": {"to": "ada@example.com"}}],
                    "reviewConfigs": [
                        {"actionName": "send_email", "allowedDecisions": ["approve", "reject"]}
                    ],
                },
            },
        },
    ),
    Operation(
        "get",
        "/v1/reviews",
        "List reviews: a thread's, or those that are ready",
        {
            200: (
                (
                    "A thread's, live ones first; or the longest waiting first. The list ends early, with the"
                    " review that makes it pass 4 MiB of arguments and descriptions: ask again after `done`."
                ),
                ReviewList,
            )
        },
        ("invalid",),
        query=ListQuery,
    ),
    Operation(
        "get",
        "/v1/reviews/{id}",
        "Read a review, or wait for it",
        {200: ("With `wait`: when nobody is asked any more, or the time is over.", ReviewOut)},
        ("invalid", "not_found"),
        query=ReviewQuery,
    ),
    Operation(
        "post",
        "/v1/reviews/{id}/once",
        "Ask whether a call may start now",
        {200: ("Run it where `run` is true, and only then.", OnceOut)},
        (
            *_BODY_PROBLEMS,
            *_CLAIM_PROBLEMS,
            "not_found",
            "no_such_call",
            "not_allowed",
            "args_changed",
        ),
        {OnceIn: {"tool_call_id": "c1", "holder": "worker-1", "lease": 60}},
        takes_key=True,
    ),
    Operation(
        "post",
        "/v1/reviews/{id}/renew",
        "Keep a review for longer",
        {200: ("It is this holder's until then.", RenewOut)},
        (*_BODY_PROBLEMS, *_CLAIM_PROBLEMS, "not_found"),
        {Renew: {"holder": "worker-1", "lease": 60}},
        body_required=False,
    ),
    Operation(
        "post",
        "/v1/reviews/{id}/done",
        "Say what came of it",
        {200: ("The review is done.", ReviewOut)},
        (*_BODY_PROBLEMS, *_CLAIM_PROBLEMS, "not_found", "no_such_call", "not_allowed"),
        {Done: {"results": {"c1": "sent as m-1"}, "holder": "worker-1"}},
        body_required=False,
        takes_key=True,
    ),
    Operation(
        "post",
        "/v1/reviews/{id}/cancel",
        "Withdraw a review",
        {
            200: (
                (
                    "Nobody is asked any more, and nothing of it runs. `outcome` has what to tell the model."
                    " The review is `done`; where a process with a gate submitted it or waits for it,"
                    " `settled` until that one has taken it up."
                ),
                ReviewOut,
            )
        },
        (*_BODY_PROBLEMS, "not_found", "started"),
        {Cancel: {"reason": "The customer called back."}},
        body_required=False,
    ),
)
