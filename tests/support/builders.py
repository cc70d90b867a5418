"""Small reviews and people for tests whose subject is something else."""

from __future__ import annotations

import itertools
from collections.abc import Coroutine, Sequence
from functools import cache
from typing import Any, TypeVar

from hitl_core.gate.submission.calls import JudgedCalls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.gate.submission.schemas import ToolSchemas, kept_policy_for
from hitl_core.model import Action, Arguments, Event, Review, Reviewer, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review import Decide, claims
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.escalation import due_at
from hitl_core.review.service import Reviews
from hitl_core.review.transition import Transition
from hitl_core.store import Write

T = TypeVar("T")

#: The name of each tool says what the policy does with it.
POLICY: dict[str, Any] = {
    "default": "review",
    "interrupt_on": {
        "look_*": False,
        "drop_table": "deny",
        "ask": {"allowed_decisions": ["approve", "edit", "reject", "respond", "ignore"]},
        "rerunnable": {"allowed_decisions": ["approve", "reject"], "idempotent": True},
        "strict": {
            "allowed_decisions": ["approve", "edit", "reject"],
            "reject_reason": "required",
            "args_schema": {
                "type": "object",
                "properties": {"n": {"type": "integer", "maximum": 10}},
                "required": ["n"],
            },
        },
        "timed": {
            "notify": "slack:#first",
            "escalate": [
                {"after": "10s", "to": "slack:#second"},
                {"after": "20s", "to": "slack:#third"},
            ],
            "expire": {"after": "30s", "decision": "reject"},
        },
        "hurried": {"expire": {"after": "1s", "decision": "ignore"}},
        "pair": {
            "allowed_decisions": ["approve", "edit", "reject", "respond", "ignore"],
            "reviewers": {"channel_members": True, "quorum": 2},
        },
        "jury": {
            "notify": "slack:#first",
            "reviewers": {"channel_members": True, "quorum": 3, "reject_quorum": 2},
            "escalate": [{"after": "10s", "to": "slack:#second"}],
            "remind": "15s",
            "fallback": "slack:#it",
        },
        "shipped": {
            "notify": "slack:#first",
            "escalate": [{"after": "10s", "to": "slack:#second"}],
            "expire": {"after": "30s"},
            "remind": "4s",
            "clock": "delivered",
            "fallback": "slack:#it",
        },
    },
}

#: The time of the store's clock in tests without a store.
START = 1_800_000_000.0

_numbers = itertools.count(1)


def policy(**rules: Any) -> Policy:
    """POLICY with additional or replaced rules."""
    if not rules:
        return _plain_policy()
    return Policy.from_mapping({**POLICY, "interrupt_on": {**POLICY["interrupt_on"], **rules}})


@cache
def _plain_policy() -> Policy:
    """Parsed only once, because most tests use it, and a policy never changes."""
    return Policy.from_mapping(POLICY)


def call(name: str = "ask", id: str = "c1", **args: Any) -> ToolCall:
    return ToolCall(id, name, args)


def review_of(
    calls: Sequence[ToolCall] = (ToolCall("c1", "ask", {"n": 1}),),
    *,
    agent: str = "billing",
    thread_id: str = "t-1",
    turn: str | None = None,
    now: float = START,
    partitions: int = 1,
    by: Policy | None = None,
    requester: str | None = None,
    origin: str | None = None,
) -> tuple[Review, Event]:
    """A review as the gate makes it. Each call of this function makes another turn, unless it names one."""
    name = turn or f"turn-{next(_numbers)}"
    which = ReviewKey(agent, thread_id, name, requester, origin)
    return build_review(which, judge_turn(by or policy(), calls), partitions, now)


def judge_turn(by: Policy, calls: Sequence[ToolCall], **tools: Any) -> JudgedCalls:
    """The gate's verdicts for a turn of any size. `tools`: the agent's tools, each with its
    schema or None.
    """
    schemas = ToolSchemas()
    rulings = [_now(schemas.add_schema(by.judge(each), each.name, tools)) for each in calls]
    named = _now(schemas.edit_targets(tools))
    return JudgedCalls(
        calls,
        rulings,
        tools=named,
        policy=by.hash,
        kept_policy=kept_policy_for(by, calls, rulings, named),
    )


def _now(awaited: Coroutine[Any, Any, T]) -> T:
    """Runs the coroutine without an event loop. This works because it only yields to other tasks."""
    try:
        while True:
            awaited.send(None)
    except StopIteration as done:
        return done.value


def person(name: str = "Ada") -> Reviewer:
    return Reviewer(channel="slack", team="T1", id=f"U_{name.upper()}", name=name)


def proposal(
    type: Any = "approve", revision: int = 1, message: str | None = None, **args: Any
) -> Proposal:
    """`args` are the edited arguments."""
    edited: Arguments | None = encode(args) if args else None
    return Proposal(type, revision, message, edited)


def write_of(changed: Transition | tuple[Review, Event], *, wake: bool = False) -> Write:
    """The write with which the service would store this change, except for the version."""
    review, event = changed
    return Write(review, event, review.args, due_at(review), claims.ready_at(review), wake)


async def approve_all(reviews: Reviews, review_id: str, by: Reviewer | None = None) -> None:
    """Approves every action that still waits."""
    for action in (await reviews.load(review_id)).review.actions:
        if action.is_pending:
            plan = proposal("approve", action.revision)
            await reviews.apply(
                Decide(review_id, action.key, plan, by or person(), f"click:{next(_numbers)}")
            )


def approvals_needed(action: Action) -> int:
    """How many approvals are missing."""
    return max(0, action.route.reviewers.quorum - len(action.approvals)) if action.is_pending else 0
