"""Did every deadline and escalation take effect, and not too early? Pure."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.chaos.plan import ESCALATION, EXPIRY
from benchmarks.chaos.verdict.decisions import describe
from benchmarks.chaos.verdict.evidence import Evidence
from hitl_core.model import Action


def timers(seen: Evidence) -> Iterator[str]:
    for id, review in seen.reviews.items():
        action = review.actions[0]
        for what, after, at in timer_times(action):
            if at is None and review.created_at + after < seen.now:
                yield f"{id} did not {what}: {describe(action)}"
            elif at is not None and at < review.created_at + after:
                yield f"{id} did {what} too early"


def timer_times(action: Action) -> Iterator[tuple[str, float, float | None]]:
    """What was due, how many seconds after the submit, and when it happened. A timer is not due if a person
    acted first.
    """
    decision, route = action.decision, action.route
    end = decision.at if decision and decision.by else float("inf")
    if route.expire is not None and end > action.submitted_at + route.expire.after:
        yield "expire", route.expire.after, decision.at if decision else None
    if route.escalate and end > action.submitted_at + ESCALATION:
        at = next((each.at for each in action.escalations), None)
        expired = decision.at if decision and at is None else None
        yield "escalate", ESCALATION, at if expired is None else max(expired, float(EXPIRY))
