"""The table of all operations. The OpenAPI document is made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ...web import ProblemCode
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
    """One operation. `responses`: the successful ones, status → description and models. `problems`: those
    beside the common ones. `bodies`: the possible request models, each with an example. `takes_key`: it
    accepts an Idempotency-Key.
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
    "held",
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
            200: ("This turn was submitted before.", ReviewOut, ReviewList),
            201: (
                "Stored; people are asked if the policy requires it. Several interrupts get a list.",
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
        "List the reviews of a thread, or those that are ready",
        {
            200: (
                (
                    "A thread's reviews, live ones first; or the ready ones, longest waiting first. The list"
                    " ends early with the review that exceeds 4 MiB of arguments and descriptions: request it"
                    " again after `done`."
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
        {
            200: (
                "With `wait`: answered when nobody is asked any more, or the time is over.",
                ReviewOut,
            )
        },
        ("invalid", "not_found"),
        query=ReviewQuery,
    ),
    Operation(
        "post",
        "/v1/reviews/{id}/once",
        "Ask whether a call may start now",
        {200: ("Run the call only if `run` is true.", OnceOut)},
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
        "Renew the lease of a review",
        {200: ("The new end of the lease.", RenewOut)},
        (*_BODY_PROBLEMS, *_CLAIM_PROBLEMS, "not_found"),
        {Renew: {"holder": "worker-1", "lease": 60}},
        body_required=False,
    ),
    Operation(
        "post",
        "/v1/reviews/{id}/done",
        "Report the results and finish",
        {200: ("The review is done.", ReviewOut)},
        (
            *_BODY_PROBLEMS,
            *_CLAIM_PROBLEMS,
            "not_found",
            "no_such_call",
            "not_allowed",
            "no_result",
        ),
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
                    "Nobody is asked any more, and none of its calls runs. `outcome` has the messages for"
                    " the model. The review is `done`; if a process with a gate submitted it or waits for it,"
                    " it is `settled` until that process has claimed it."
                ),
                ReviewOut,
            )
        },
        (*_BODY_PROBLEMS, "not_found", "started"),
        {Cancel: {"reason": "The customer called back."}},
        body_required=False,
    ),
)
