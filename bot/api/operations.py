"""What can be asked at the door, as a table: the document is made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from bot.api.problems import Code
from bot.api.shapes import (
    Answer,
    Cancel,
    Done,
    ListQuery,
    OnceIn,
    OnceOut,
    Query,
    Renew,
    RenewOut,
    ReviewList,
    ReviewOut,
    ReviewQuery,
    Shape,
    Submit,
)


class Operation(NamedTuple):
    """`answers` are the good ones, by status: what each means, and its shape. `problems` are those that not
    every operation has. `keyed`: it takes an Idempotency-Key.
    """

    method: Literal["get", "post"]
    path: str
    summary: str
    answers: Mapping[int, tuple[str, type[Answer]]]
    problems: Sequence[Code]
    body: type[Shape] | None = None
    body_required: bool = True
    example: Mapping[str, Any] | None = None
    query: type[Query] | None = None
    keyed: bool = False


_BODY: tuple[Code, ...] = ("bad_json", "too_large", "unsupported_media_type", "invalid", "busy")
_HELD: tuple[Code, ...] = ("not_settled", "claimed_elsewhere", "in_doubt", "lease_lost", "done")

OPERATIONS: Sequence[Operation] = (
    Operation(
        "post",
        "/v1/reviews",
        "Submit a turn",
        {
            200: ("Found: this turn was submitted before.", ReviewOut),
            201: ("Stored: people are asked, where anybody has to be.", ReviewOut),
        },
        (*_BODY, "no_policy_for_agent", "conflict", "no_policy"),
        Submit,
        example={
            "thread_id": "t-42",
            "turn": "msg-7",
            "calls": [{"id": "c1", "name": "send_email", "args": {"to": "ada@example.com"}}],
        },
    ),
    Operation(
        "get",
        "/v1/reviews",
        "List reviews: a thread's, or those that are ready",
        {200: ("A thread's, live ones first; or the longest waiting first.", ReviewList)},
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
        (*_BODY, *_HELD, "not_found", "no_such_call", "not_allowed", "cancelled"),
        OnceIn,
        example={"tool_call_id": "c1", "holder": "worker-1", "lease": 60},
        keyed=True,
    ),
    Operation(
        "post",
        "/v1/reviews/{id}/renew",
        "Keep a review for longer",
        {200: ("It is this holder's until then.", RenewOut)},
        (*_BODY, *_HELD, "not_found"),
        Renew,
        body_required=False,
        example={"holder": "worker-1", "lease": 60},
    ),
    Operation(
        "post",
        "/v1/reviews/{id}/done",
        "Say what came of it",
        {200: ("The review is done.", ReviewOut)},
        (*_BODY, *_HELD, "not_found", "no_such_call", "not_allowed"),
        Done,
        body_required=False,
        example={"results": {"c1": "sent as m-1"}, "holder": "worker-1"},
        keyed=True,
    ),
    Operation(
        "post",
        "/v1/reviews/{id}/cancel",
        "Withdraw a review",
        {200: ("Nobody is asked any more, and nothing of it runs.", ReviewOut)},
        (*_BODY, "not_found", "started"),
        Cancel,
        body_required=False,
        example={"reason": "The customer called back."},
    ),
)
