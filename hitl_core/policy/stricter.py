"""Two rulings on one call become the strictest of both. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hitl_core.model import Verdict
from hitl_core.policy.reviewers import beyond, together
from hitl_core.policy.rule import Kind
from hitl_core.policy.ruling import Ruling

Schema = dict[str, Any]

_STRICT: tuple[Kind, ...] = ("allow", "review", "deny")
_NOTHING_LEFT = (
    "Nothing can be decided on it: the policy and this run's context allow no decision together."
)


def stricter(policy: Ruling, run: Ruling) -> Ruling:
    """What a run's context may make of the policy's ruling: never more than that. Places, people, deadline
    and whether it may run twice stay the policy's.
    """
    made = _stricter(policy, run, asks_more=run.says_reviewers)
    if made.verdict.kind == policy.verdict.kind or run.verdict.kind != made.verdict.kind:
        return made
    does = "denies it" if made.verdict.kind == "deny" else "asks for a person"
    reason = f"This run's own configuration {does}."
    return replace(
        made,
        verdict=Verdict(kind=made.verdict.kind, rule=run.verdict.rule, reason=reason),
        redact=policy.redact,
        policy_schema=policy.policy_schema,
    )


def overriding(policy: Ruling, run: Ruling) -> Ruling:
    """What a run's context says in the policy's place, where the policy lets it. Even then what the policy
    hides stays hidden, and what people could reject they can.
    """
    allowed = run.allowed_decisions
    if "reject" in policy.allowed_decisions and allowed and "reject" not in allowed:
        allowed = (*allowed, "reject")
    return replace(
        run,
        allowed_decisions=allowed,
        redact=policy.redact,
        policy_schema=policy.policy_schema,
        trusts_tools=policy.trusts_tools,
        by_agent=run.verdict.kind == "review",
    )


def _stricter(policy: Ruling, run: Ruling, *, asks_more: bool) -> Ruling:
    ours, theirs = (_STRICT.index(ruling.verdict.kind) for ruling in (policy, run))
    if theirs < ours:
        return policy
    route, reviewers = policy.route, policy.route.reviewers
    if asks_more:
        reviewers = together(reviewers, run.route.reviewers)
        route = route.model_copy(update={"reviewers": reviewers})
    needs_requester = policy.needs_requester or (asks_more and run.needs_requester)
    if theirs > ours:
        kept = replace(
            run,
            route=route,
            idempotent=policy.idempotent,
            line=policy.line,
            needs_requester=needs_requester,
        )
        return _checked(kept, policy.args_schema, run.args_schema)
    if policy.verdict.kind != "review":
        return policy
    allowed = tuple(kind for kind in policy.allowed_decisions if kind in run.allowed_decisions)
    if not allowed:
        denied = Verdict(kind="deny", rule=run.verdict.rule, reason=_NOTHING_LEFT)
        return replace(policy, verdict=denied, allowed_decisions=())
    both = replace(
        policy,
        allowed_decisions=allowed,
        route=route,
        needs_requester=needs_requester,
        must_read=policy.must_read or run.must_read,
        confirm=policy.confirm or run.confirm,
        redact=tuple(dict.fromkeys((*policy.redact, *run.redact))),
        answer_schema=policy.answer_schema or run.answer_schema,
        reject_reason="required"
        if "required" in (policy.reject_reason, run.reject_reason)
        else "optional",
    )
    return _checked(both, policy.args_schema, run.args_schema)


def either(ruling: Ruling, unsure: Ruling) -> Ruling:
    """Where nobody knows which of the two speaks, as the `when` of one has failed: what both would take.

    Whoever can make a `when` fail must gain nothing by it, not even other people to ask.
    """
    kinds = {ruling.verdict.kind, unsure.verdict.kind}
    if "deny" in kinds:
        return ruling if ruling.verdict.kind == "deny" else unsure
    if kinds != {"review"}:
        asks = ruling if ruling.verdict.kind == "review" else unsure
        return replace(asks, unsure=ruling.unsure)
    ours, theirs = ruling.route, unsure.route
    if ours.notify != theirs.notify or ours.reviewers.people != theirs.reviewers.people:
        reason = f"{unsure.verdict.reason} Another rule asks other people, so nobody can be asked."
        denied = Verdict(kind="deny", rule=unsure.verdict.rule, reason=reason)
        return replace(ruling, verdict=denied, allowed_decisions=())
    both = _stricter(ruling, unsure, asks_more=True)
    return both if both.verdict.kind == "deny" else replace(both, verdict=unsure.verdict)


def _checked(ruling: Ruling, one: Schema | None, other: Schema | None) -> Ruling:
    """With both schemas, where it can still be decided. Each was good alone; what together can't be checked,
    or takes more people than there are, nobody could be asked about.
    """
    both = both_of(one, other)
    ruling = replace(ruling, args_schema=both)
    if ruling.verdict.kind != "review":
        return ruling
    if word := beyond(ruling.route):
        return _denied(ruling, f"The `{word}` of the policy and the context can never be met.")
    reviewers = ruling.route.reviewers
    allowed = ruling.allowed_decisions
    if "approve" not in allowed and not (reviewers.quorum == 1 and reviewers.editor_approves):
        allowed = tuple(kind for kind in allowed if kind != "edit")  # which others had to approve
        if not allowed:
            return _denied(ruling, _NOTHING_LEFT)
    ruling = replace(ruling, allowed_decisions=allowed)
    if both is None or both is one or both is other:
        return ruling
    from hitl_core.policy import _schema  # with jsonschema, only where it is needed

    if flaw := _schema.problem_in(both):
        return _denied(
            ruling,
            f"Its arguments can't be checked by the schemas of the policy and the context: {flaw}",
        )
    return ruling


def _denied(ruling: Ruling, reason: str) -> Ruling:
    verdict = Verdict(kind="deny", rule=ruling.verdict.rule, reason=reason)
    return replace(ruling, verdict=verdict, allowed_decisions=(), args_schema=None)


def both_of(one: Schema | None, other: Schema | None) -> Schema | None:
    """What meets both. It can't always be checked where each of them can."""
    if one is None or other is None or one == other:
        return one or other
    return {"type": "object", "allOf": [one, other]}
