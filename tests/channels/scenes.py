"""Reviews in every state, made by the product's own state machine, with a fixed clock."""

from __future__ import annotations

from typing import Any

from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import (
    DEFAULT_PLACE,
    MessageRef,
    Place,
    Review,
    Reviewer,
    Snapshot,
    ToolCall,
    encode,
)
from hitl_core.policy import Policy
from hitl_core.review import (
    Release,
    apply_command,
    claims,
    commands,
    decisions,
    delivery_problems,
    escalation,
    ran_mark,
)
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.rejections import Rejected, add_rejections, is_rejected
from tests.support.builders import judge_turn

NOW = 1_800_000_000.0
ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice Ng")
CARL = Reviewer(channel="slack", team="T0ACME", id="U0CARL", name="Carl Weber")
BOB = Reviewer(channel="slack", team="T0ACME", id="U0BOB", name="Bob Reyes")
#: A login that looks like one of Slack's ids.
OPERATOR = Reviewer(channel="cli", team="host-1", id="U0ALICE", name="U0ALICE (command line)")
DEFAULT, OPS = DEFAULT_PLACE, Place("slack:#team-ops")
LEADS, IT = Place("slack:#leads"), Place("slack:#it")
NAMES = {DEFAULT: "#agent-approvals", OPS: "#team-ops", LEADS: "#leads", IT: "#it"}

CUSTOMER: dict[str, Any] = {
    "type": "object",
    "properties": {"customerId": {"type": "string"}, "status": {"type": "string"}},
    "required": ["customerId", "status"],
}
POLICY: dict[str, Any] = {
    "default": "review",
    "escalate": [{"after": "10m", "to": OPS}],
    "interrupt_on": {
        "read_*": False,
        "send_email": {"description": "Sends an e-mail to the customer."},
        "run_sql": {
            "allowed_decisions": ["approve", "reject"],
            "description": "Review this SQL statement before execution.",
        },
        "update_customer": {
            "allowed_decisions": ["approve", "edit", "reject", "respond", "ignore"],
            "args_schema": CUSTOMER,
        },
    },
}
EMAIL = {
    "to": "jo@example.com",
    "subject": "Your refund for order 1042",
    "body": "Hi Jo,\n\nwe have refunded 120.00 EUR. It takes two to five days to arrive.\n\nThe team",
}
THREE = (
    ("send_email", EMAIL),
    ("run_sql", {"query": "UPDATE orders SET status = 'refunded'\nWHERE id = 1042;"}),
    ("update_customer", {"status": "vip", "customerId": "cus_88"}),
)


def name_of(place: Place) -> str:
    """Others have no name, as in a channel that the bot doesn't have."""
    return NAMES.get(place, place)


def link_to(ref: MessageRef) -> str:
    return f"https://acme.example/archives/{ref.conversation}/p{ref.ts.replace('.', '')}"


#: Where the first card was posted.
POSTED = {DEFAULT: MessageRef(channel="slack", conversation="C0APPROVE", ts="1800000001.000100")}


def review_of(
    *calls: tuple[str, dict[str, Any]],
    policy: dict[str, Any] | None = None,
    agent: str = "support-agent",
    requester: str | None = "U0MARIA",
    origin: str | None = None,
    tools: dict[str, Any] | None = None,
    reason: str | None = None,
) -> Review:
    made = [ToolCall(f"c{n}", name, args, reason) for n, (name, args) in enumerate(calls, start=1)]
    rules = Policy.from_mapping(POLICY if policy is None else {**POLICY, **policy})
    asked = judge_turn(rules, made, **(tools or {}))
    return build_review(ReviewKey(agent, "thread-1", "turn-1", requester, origin), asked, 1, NOW)[0]


def decide(
    review: Review,
    key: str,
    kind: Any,
    by: Reviewer = ALICE,
    *,
    message: str | None = None,
    args: dict[str, Any] | None = None,
    after: float = 120.0,
) -> Review:
    action = review.action(key)
    assert action is not None
    proposal = Proposal(kind, action.revision, message, encode(args) if args is not None else None)
    return decisions.decide(review, key, proposal, by, NOW + after).review


def try_again(rejected: Review, review: Review) -> Review:
    """The new review, as it is stored after the rejected one in the same thread."""
    calls = [
        Rejected(rejected, action, rejected.arguments(action.key))
        for action in rejected.actions
        if is_rejected(action)
    ]
    return add_rejections(review, calls)


def apply_due(review: Review, after: float) -> Review:
    return escalation.apply_due(review, NOW + after).review


def escalate(review: Review, by: Reviewer = BOB, why: str | None = None) -> Review:
    return escalation.escalate(review, DEFAULT, by, NOW + 60, why=why).review


def reroute(review: Review, why: str, place: Place = DEFAULT) -> Review:
    return delivery_problems.use_fallback(review, place, why, NOW + 5).review


def with_request(review: Review, **of: Any) -> Review:
    """With more said of each action's request: `title`."""
    actions = tuple(
        action.model_copy(update={"request": action.request.model_copy(update=of)})
        for action in review.actions
    )
    return review.model_copy(update={"actions": actions})


def asking(schema: dict[str, Any], *allowed: str, text: str = "Which one?") -> Review:
    """A question of the agent to a person."""
    rule = {
        "allowed_decisions": list(allowed or ("respond",)),
        "answer_schema": schema,
        "description": text,
    }
    review = review_of(("ask_human", {"about": "order 1042"}), policy={"interrupt_on": {"*": rule}})
    return with_request(review, by_agent=True)


def start_calls(review: Review, *keys: str) -> Review:
    """An agent's process took it and began these calls."""
    review = claims.claim(review, "p1", NOW + 200, 30).review
    for key in keys:
        review = claims.start(review, review.fence, key, NOW + 201).review
    return review


def done(review: Review, lines: dict[str, str]) -> Review:
    return claims.finish(review, review.fence, lines, NOW + 202).review


def with_doubts(review: Review, *keys: str) -> Review:
    """After a release that found that an agent has started these calls, which may still wait for people."""
    marks = frozenset(map(ran_mark, keys))
    held = Snapshot(review=review, posts={}, shown={}, now=NOW, marks=marks)
    return apply_command(held, Release(review.id, BOB, "op")).review


def expire_lease(review: Review) -> Review:
    return claims.expire_lease(review, NOW + 300).review


def cancel(review: Review, by: Reviewer | None = None, reason: str | None = None) -> Review:
    return commands.cancel(review, by, reason, NOW + 150).review


def resolve(review: Review, key: str, answer: Any, by: Reviewer = BOB) -> Review:
    return claims.resolve(review, key, answer, by, NOW + 400).review
