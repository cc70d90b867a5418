"""Apply our policy to another system's interrupt. The policy can only make it stricter: the agent decides
which calls interrupt; the policy adds places, deadlines and schemas. Pure, except for async functions of the
policy.
"""

from __future__ import annotations

from collections.abc import Mapping

from hitl_core.errors import DialectError
from hitl_core.gate import JudgedCalls, SchemaChecks, ToolSchemas, freeze_calls
from hitl_core.model import DecisionType, JsonObject, ToolCall, Verdict
from hitl_core.policy import Policy, Ruling


async def apply_policy(
    policy: Policy,
    request: JudgedCalls,
    *,
    tools: Mapping[str, JsonObject | None] | None = None,
    state: object = None,
    checks: SchemaChecks | None = None,
) -> JudgedCalls:
    """The interrupt, with our policy applied to each of its calls. `tools` and `state`: see `judge_calls`;
    `checks`: the checks of the request, if it has several interrupts.

    A call that the policy denies is denied, even if the agent runs it without an interrupt: if no guard is
    around the agent's tools, the caller must prevent that such a call runs. Raises DialectError if no
    decision is allowed by both sides, and InvalidToolCall.
    """
    calls, tools, schemas = freeze_calls(request.calls), tools or {}, ToolSchemas(checks)
    rulings: list[Ruling] = []
    for call, interrupt_ruling in zip(calls, request.rulings, strict=True):
        policy_ruling = await policy.judge_async(call, state)
        if interrupt_ruling.verdict.kind == "allow":
            ruling = deny_unless_allowed(policy_ruling, call)
        else:
            ruling = combine_rulings(policy_ruling, interrupt_ruling, call)
            if ruling.verdict.kind != "deny":
                both = await schemas.combine(
                    policy_ruling.args_schema, interrupt_ruling.args_schema
                )
                ruling = ruling._replace(args_schema=both)
        rulings.append(await schemas.add_schema(ruling, call.name, tools))
    edits = any("edit" in ruling.allowed_decisions for ruling in rulings)
    edit_tools = await schemas.edit_targets(tools) if edits else {}
    kept_policy = await schemas.kept_policy(policy, calls, rulings, edit_tools)
    return request._replace(
        calls=calls,
        rulings=rulings,
        tools=edit_tools,
        policy=policy.hash,
        kept_policy=kept_policy,
    )


def combine_rulings(ours: Ruling, theirs: Ruling, call: ToolCall) -> Ruling:
    """The ruling on a call that an interrupt asks about. It is always reviewed, unless the policy denies it.
    A rule for the tool can remove decisions; without a rule, the interrupt's decisions stay. The schema is
    the policy's. Raises DialectError.
    """
    if ours.verdict.kind == "deny":
        return ours
    asks = ours.verdict.kind == "review"
    by_rule = asks and ours.verdict.rule is not None
    allowed = _common_decisions(ours, theirs) if by_rule else theirs.allowed_decisions
    if not allowed:
        raise DialectError(
            f"No decision is possible on `{call.name}`: the interrupt allows only"
            f" {', '.join(theirs.allowed_decisions)}, and the policy only"
            f" {', '.join(ours.allowed_decisions)}."
        )
    return _with_request(ours, theirs)._replace(
        verdict=ours.verdict if asks else theirs.verdict,
        allowed_decisions=allowed,
        says_no=by_rule and not {"reject", "ignore"}.isdisjoint(ours.allowed_decisions),
    )


def answer_denial(ours: Ruling, theirs: Ruling, kind: DecisionType) -> Ruling:
    """The ruling on a call that an interrupt asks about and the policy denies, for a system that needs an
    answer: the policy itself decides as `kind`, and nobody is asked.
    """
    return _with_request(ours, theirs)._replace(
        verdict=ours.verdict.model_copy(update={"kind": "review"}),
        allowed_decisions=(kind,),
        needs_requester=False,
        accepted_decisions=theirs.allowed_decisions,
        extra=theirs.extra,
    )


def _with_request(ours: Ruling, theirs: Ruling) -> Ruling:
    """The policy's ruling about an interrupt's request, with the fields that the system's answer needs."""
    text = theirs.description if theirs.text is None else theirs.text
    answer_schema = ours.answer_schema if ours.output is None else None
    # People read the rule's own description. The system gets the one of its interrupt.
    if not ours.says_description and text and theirs.description != ours.description:
        description, by_agent, computed = theirs.description, theirs.by_agent, theirs.computed
    else:
        description, by_agent, computed = ours.description, ours.by_agent, ours.computed
    return ours._replace(
        description=description,
        by_agent=by_agent,
        computed=computed,
        text=None if text == description else text,
        title=theirs.title,
        interrupt_id=theirs.interrupt_id,
        answer_schema=answer_schema if theirs.answer_schema is None else theirs.answer_schema,
        answer_by_agent=theirs.answer_schema is not None,
        output=theirs.output,  # ours would change arguments without the system's knowledge
    )


def deny_unless_allowed(ours: Ruling, call: ToolCall) -> Ruling:
    """The ruling on a call without an interrupt: it runs only if the policy allows it without a review. If a
    rule or the default requires a person, it is denied, and the reason says what to do. LangChain allows
    tools that are not in its configuration; `default: allow` does the same here.
    """
    kind, rule = ours.verdict.kind, ours.verdict.rule
    if kind == "deny":
        return ours
    verdict = Verdict(
        kind="allow", rule=rule, reason="The agent does not interrupt before this tool."
    )
    if kind == "review":
        verdict = Verdict(kind="deny", rule=rule, reason=_no_interrupt_reason(call.name, rule))
    return ours._replace(verdict=verdict, allowed_decisions=(), args_schema=None, idempotent=False)


def _no_interrupt_reason(tool: str, rule: str | None) -> str:
    """What the user can change. There are three possible causes: the tool is not in `interrupt_on`, its
    `when` was false for this call, or the agent's own code asked.
    """
    own = (
        " An answer to a question of the agent's own code doesn't count for this call: if that code should"
        " decide alone, let the policy allow the tool."
    )
    if rule is None:
        return (
            f"its default requires a person, but the agent did not interrupt: add `{tool}` to interrupt_on"
            f" in the agent, or a rule or `default: allow` to the policy.{own}"
        )
    named = "" if rule == tool else f" (the rule is `{rule}`)"
    return (
        f"it requires a person, but the agent did not interrupt: add `{tool}` to interrupt_on in the agent"
        f"{named}. If it is there with a `when` that is false for this call, give the policy's rule the same"
        f" `when`.{own}"
    )


def _common_decisions(ours: Ruling, theirs: Ruling) -> tuple[DecisionType, ...]:
    """The decisions that both allow, in the interrupt's order. If only one side has `ignore`, the other
    side's `reject` allows it.
    """
    may, takes = set(ours.allowed_decisions), dict.fromkeys(theirs.allowed_decisions)
    if "ignore" in may and "reject" in takes:
        takes["ignore"] = None
    if "reject" in may and "ignore" in takes:
        may.add("ignore")
    return tuple(kind for kind in takes if kind in may)
