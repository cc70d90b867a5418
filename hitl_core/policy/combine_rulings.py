"""Combines two rulings on one call: the result is as strict as both together. Pure."""

from __future__ import annotations

from typing import Any, Literal

from hitl_core.model import Expire, Route, Verdict
from hitl_core.policy.reader import combine_reviewers, find_unreachable_quorum
from hitl_core.policy.rule import Kind
from hitl_core.policy.ruling import Ruling
from hitl_core.policy.schemas import combine_schemas, find_problem, has_refs

Schema = dict[str, Any]

_BY_STRICTNESS: tuple[Kind, ...] = ("allow", "review", "deny")
_NOTHING_LEFT = (
    "Nobody can decide on this call: the policy and this run's context allow no decision together."
)
_TWO_REFS = (
    "Its arguments can't be checked by the schemas of the policy and the context together: a `$ref` in one"
    " of them would have another target in the other. Replace the `$ref` by the schema it refers to."
)


def tighten(policy: Ruling, run: Ruling) -> Ruling:
    """The policy's ruling, made stricter by the run's context. Places, people, deadline and `idempotent` are
    always the policy's.
    """
    made = _combine(policy, run, asks_more=run.says_reviewers)
    if made.verdict.kind == policy.verdict.kind or run.verdict.kind != made.verdict.kind:
        return made
    does = "denies it" if made.verdict.kind == "deny" else "asks for a person"
    reason = f"This run's own configuration {does}."
    verdict = Verdict(kind=made.verdict.kind, rule=run.verdict.rule, reason=reason)
    return made._replace(verdict=verdict)


def override_ruling(policy: Ruling, run: Ruling) -> Ruling:
    """The ruling of the run's context in place of the policy's, for a policy with `allow_override`.

    These still come from the policy: who decides, where and until when; the arguments' schema, `must_read`
    and `confirm`; the hidden values. A call that people could reject can still be rejected.
    """
    allowed = run.allowed_decisions
    if "reject" in policy.allowed_decisions and allowed and "reject" not in allowed:
        allowed = (*allowed, "reject")
    combined = _with_question(policy, run, asks_more=run.says_reviewers)._replace(
        allowed_decisions=allowed,
        idempotent=run.idempotent,
        line=run.line,
    )
    return _with_schemas(combined, policy.args_schema, run.args_schema)


def _combine(policy: Ruling, run: Ruling, *, asks_more: bool) -> Ruling:
    ours, theirs = (_BY_STRICTNESS.index(ruling.verdict.kind) for ruling in (policy, run))
    if theirs > ours:
        stricter = _with_question(policy, run, asks_more=asks_more)
        return _with_schemas(stricter, policy.args_schema, run.args_schema)
    if theirs < ours or policy.verdict.kind != "review":
        return policy
    allowed = tuple(kind for kind in policy.allowed_decisions if kind in run.allowed_decisions)
    if not allowed:
        denied = Verdict(kind="deny", rule=run.verdict.rule, reason=_NOTHING_LEFT)
        return policy._replace(verdict=denied, allowed_decisions=())
    both = _with_demands(policy, run, asks_more=asks_more)._replace(allowed_decisions=allowed)
    return _with_schemas(both, policy.args_schema, run.args_schema)


def _with_question(policy: Ruling, run: Ruling, *, asks_more: bool) -> Ruling:
    """The policy's ruling, with the run's verdict and the run's question to people, in the run's words."""
    return _with_demands(policy, run, asks_more=asks_more)._replace(
        verdict=run.verdict,
        allowed_decisions=run.allowed_decisions,
        description=run.description,
        text=run.text,
        says_description=run.says_description,
        by_agent=run.by_agent,
        computed=run.computed,
        answer_schema=run.answer_schema,
        output=run.output,
        extra=run.extra,
    )


def _with_demands(policy: Ruling, run: Ruling, *, asks_more: bool) -> Ruling:
    """The policy's ruling, with the demands of both. `asks_more`: the run's reviewers count too."""
    return policy._replace(
        route=_combine_routes(policy, run) if asks_more else policy.route,
        needs_requester=policy.needs_requester or (asks_more and run.needs_requester),
        must_read=run.must_read or policy.must_read,
        confirm=policy.confirm or run.confirm,
        redact=tuple(dict.fromkeys((*policy.redact, *run.redact))),
        reject_reason=_reject_reason(policy, run),
    )


def _combine_routes(policy: Ruling, run: Ruling) -> Route:
    """The policy's people, with the stricter numbers of both."""
    reviewers = combine_reviewers(policy.route.reviewers, run.route.reviewers)
    return policy.route.model_copy(update={"reviewers": reviewers})


def _reject_reason(one: Ruling, other: Ruling) -> Literal["optional", "required"]:
    return "required" if "required" in (one.reject_reason, other.reject_reason) else "optional"


def combine_unsure(ruling: Ruling, unsure: Ruling) -> Ruling:
    """Combine two rulings when it is unknown which rule matches, because a `when` failed: the result needs
    what both need. A person who can make a `when` fail must gain nothing, not even other reviewers.
    """
    kinds = {ruling.verdict.kind, unsure.verdict.kind}
    if "deny" in kinds:
        denial = ruling if ruling.verdict.kind == "deny" else unsure
        return _with_both(denial, ruling, unsure)
    if kinds != {"review"}:
        asks = ruling if ruling.verdict.kind == "review" else unsure
        return _with_both(asks._replace(unsure=ruling.unsure), ruling, unsure)
    what = "asks other people" if route_key(ruling.route) != route_key(unsure.route) else None
    questions = [each for each in (ruling, unsure) if each.answer_schema is not None]
    if len(questions) == 2 and _question_key(ruling) != _question_key(unsure):
        what = what or "asks another question"
    if what:
        rule = unsure.verdict.rule
        reason = f"The rule `{rule}`: {unsure.unsure} Another rule {what}, so the call is denied."
        denied = deny_ruling(ruling._replace(verdict=unsure.verdict), reason)
        return _with_both(denied, ruling, unsure)
    both = _combine(ruling, unsure, asks_more=True)
    if both.verdict.kind == "deny":
        return _with_both(both, ruling, unsure)
    reminds = [each.route.remind for each in (ruling, unsure) if each.route.remind is not None]
    expire = earlier_expire(ruling.route.expire, unsure.route.expire)
    route = both.route.model_copy(update={"expire": expire, "remind": min(reminds, default=None)})
    if questions:
        both = both._replace(answer_schema=questions[0].answer_schema, output=questions[0].output)
    return _with_both(both._replace(verdict=unsure.verdict, route=route), ruling, unsure)


def _with_both(ruling: Ruling, one: Ruling, other: Ruling) -> Ruling:
    """The ruling that hides and demands what either rule does. It is idempotent only if both are."""
    return ruling._replace(
        idempotent=one.idempotent and other.idempotent,
        must_read=one.needs_reading or other.needs_reading,
        hide_when_decided=one.hide_when_decided or other.hide_when_decided,
        redact=tuple(dict.fromkeys((*one.redact, *other.redact))),
        policy_schema=combine_schemas(one.policy_schema, other.policy_schema),
        hiding_schema=combine_schemas(one.hiding_schema, other.hiding_schema),
        trusts_tools=one.trusts_tools or other.trusts_tools,
        confirm=one.confirm or other.confirm,
        computed=one.computed or other.computed,
    )


def with_tool_schema(ruling: Ruling, tool_schema: Schema | None) -> Ruling:
    """The ruling with the tool's own schema. If the policy has no schema for the tool, the tool's schema
    checks arguments, together with that of the run's context. If the policy trusts the tools, the tool's
    schema also hides values, and describes them where the policy has no schema.
    """
    if tool_schema is None:
        return ruling
    if ruling.policy_schema is not None:
        hiding = combine_schemas(ruling.hiding_schema, tool_schema)
        return ruling._replace(hiding_schema=hiding) if ruling.trusts_tools else ruling
    return ruling._replace(
        args_schema=combine_schemas(ruling.args_schema, tool_schema),
        policy_schema=tool_schema if ruling.trusts_tools else None,
    )


def route_key(route: Route) -> tuple[object, ...]:
    """The people, places and times, to compare two routes."""
    return route.notify, route.reviewers.people_key, route.escalate, route.fallback, route.clock


def _question_key(ruling: Ruling) -> tuple[object, ...]:
    return ruling.answer_schema, ruling.output


def earlier_expire(one: Expire | None, other: Expire | None) -> Expire | None:
    """The earlier deadline. It rejects if one of the two rejects."""
    if one is None or other is None:
        return one or other
    first, second = sorted((one, other), key=lambda each: each.after)
    if first.decision != "reject" and second.decision == "reject":
        return second.model_copy(update={"after": first.after})
    return first


def _with_schemas(ruling: Ruling, one: Schema | None, other: Schema | None) -> Ruling:
    """The ruling with both schemas. It becomes a denial if nobody could decide: because the schemas can't be
    checked together, or because more people must agree than may decide.
    """
    both = combine_schemas(one, other)
    ruling = ruling._replace(args_schema=both)
    if ruling.verdict.kind != "review":
        return ruling
    if word := find_unreachable_quorum(ruling.route):
        return deny_ruling(
            ruling,
            f"The `{word}` of the policy and the context is larger than the number of reviewers.",
        )
    reviewers = ruling.route.reviewers
    allowed = ruling.allowed_decisions
    if "approve" not in allowed and not (reviewers.quorum == 1 and reviewers.editor_approves):
        allowed = tuple(kind for kind in allowed if kind != "edit")  # nobody could approve the edit
        if not allowed:
            return deny_ruling(ruling, _NOTHING_LEFT)
    ruling = ruling._replace(allowed_decisions=allowed)
    if both is None or both is one or both is other:
        return ruling
    if has_refs(both):
        return deny_ruling(ruling, _TWO_REFS)
    if flaw := find_problem(both):
        return deny_ruling(
            ruling,
            f"Its arguments can't be checked by the schemas of the policy and the context together: {flaw}",
        )
    return ruling


def deny_ruling(ruling: Ruling, reason: str) -> Ruling:
    verdict = Verdict(kind="deny", rule=ruling.verdict.rule, reason=reason)
    return ruling._replace(verdict=verdict, allowed_decisions=(), args_schema=None)
