"""Two rulings on one call, or all rules that may speak of a tool, become the strictest of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from hitl_core.model import Target, Verdict
from hitl_core.policy.rule import Kind, Rule
from hitl_core.policy.ruling import Ruling

_STRICT: tuple[Kind, ...] = ("allow", "review", "deny")
_NOTHING_LEFT = (
    "Nothing can be decided on it: the policy and this run's context allow no decision together."
)


def stricter(policy: Ruling, run: Ruling) -> Ruling:
    """What a run's context may make of the policy's ruling: never more than that. Places, deadline and
    whether it may run twice stay the policy's.
    """
    ours, theirs = (_STRICT.index(ruling.verdict.kind) for ruling in (policy, run))
    if theirs < ours:
        return policy
    if theirs > ours:
        kept = replace(run, route=policy.route, idempotent=policy.idempotent, line=policy.line)
        return replace(kept, args_schema=_both(policy.args_schema, run.args_schema))
    if policy.verdict.kind != "review":
        return policy
    allowed = tuple(kind for kind in policy.allowed_decisions if kind in run.allowed_decisions)
    if not allowed:
        denied = Verdict(kind="deny", rule=run.verdict.rule, reason=_NOTHING_LEFT)
        return replace(policy, verdict=denied, allowed_decisions=())
    return replace(
        policy,
        allowed_decisions=allowed,
        args_schema=_both(policy.args_schema, run.args_schema),
        answer_schema=policy.answer_schema or run.answer_schema,
        reject_reason="required"
        if "required" in (policy.reject_reason, run.reject_reason)
        else "optional",
    )


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
    if ruling.route.notify != unsure.route.notify:
        reason = f"{unsure.verdict.reason} Another rule asks other people, so nobody can be asked."
        denied = Verdict(kind="deny", rule=unsure.verdict.rule, reason=reason)
        return replace(ruling, verdict=denied, allowed_decisions=())
    return replace(stricter(ruling, unsure), verdict=unsure.verdict)


def target(*rules: Iterable[Rule]) -> Target:
    """Of a tool whose arguments are not known yet: every rule that could speak does."""
    speaking = [rule for each in rules for rule in _until_certain(each)]
    kind = max(speaking, key=lambda rule: _STRICT.index(rule.kind)).kind
    asking = [rule for rule in speaking if rule.kind == "review"]
    if kind != "review":
        return Target(verdict=kind)
    notify = {rule.route.notify for rule in asking}
    schema: dict[str, Any] | None = None
    for rule in asking:
        schema = _both(schema, rule.args_schema)
    return Target(
        verdict=kind,
        allowed_decisions=tuple(
            d for d in asking[0].allowed_decisions if all(d in r.allowed_decisions for r in asking)
        ),
        args_schema=schema,
        notify=notify.pop() if len(notify) == 1 else (),
    )


def _until_certain(rules: Iterable[Rule]) -> Iterator[Rule]:
    for rule in rules:
        yield rule
        if rule.when is None:
            return


def _both(one: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any] | None:
    if one is None or other is None or one == other:
        return one or other
    return {"type": "object", "allOf": [one, other]}
