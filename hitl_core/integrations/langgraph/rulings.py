"""What an interrupt asks and our policy become one ruling a call. Pure.

Which calls interrupt is the agent's business; the policy adds schema, places and deadlines by tool name, and
may only tighten.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph.graph import usable
from hitl_core.model import DecisionType, ToolCall, Verdict
from hitl_core.policy import Ruling


def gated(ours: Ruling, theirs: Ruling, call: ToolCall, schema: dict[str, Any] | None) -> Ruling:
    """A call that an interrupt asks about: always reviewed, unless the policy denies it.

    `ours` is the policy's, `theirs` what the interrupt says, `schema` the tool's own, for where the policy
    has none. Raises IntegrationError where the two sides leave nothing that could be decided.
    """
    if ours.verdict.kind == "deny":
        return ours
    asks = ours.verdict.kind == "review"
    by_rule = asks and ours.verdict.rule is not None
    allowed = _both_allow(ours, theirs) if by_rule else theirs.allowed_decisions
    if not allowed:
        raise IntegrationError(
            f"Nothing can be decided on `{call.name}`: the interrupt takes"
            f" {', '.join(theirs.allowed_decisions)}, the policy {', '.join(ours.allowed_decisions)}."
        )
    return replace(
        ours,
        verdict=ours.verdict if asks else theirs.verdict,
        description=_description(ours, theirs),
        text=theirs.text,
        title=theirs.title,
        interrupt_id=theirs.interrupt_id,
        allowed_decisions=allowed,
        args_schema=ours.args_schema or schema or usable(theirs.args_schema),
        answer_schema=ours.answer_schema or theirs.answer_schema,
    )


def free(ruling: Ruling, call: ToolCall) -> Ruling:
    """A call that nobody is asked about: allowed, unless the policy denies it or names it for
    review."""
    kind, rule = ruling.verdict.kind, ruling.verdict.rule
    if kind == "deny":
        return ruling
    verdict = Verdict(
        kind="allow", rule=rule, reason="The agent does not interrupt before this tool."
    )
    if kind == "review" and rule is not None:
        cure = f"add `{call.name}` to interrupt_on of HumanInTheLoopMiddleware"
        if call.name != rule:
            cure += f" (the rule is `{rule}`)"
        reason = f"it asks for a person, but the agent did not interrupt: {cure}."
        verdict = Verdict(kind="deny", rule=rule, reason=reason)
    return replace(
        ruling, verdict=verdict, allowed_decisions=(), args_schema=None, idempotent=False
    )


def _both_allow(ours: Ruling, theirs: Ruling) -> tuple[DecisionType, ...]:
    """Where only one side has a word for skipping a call, it goes where the other's for rejecting does."""
    may, takes = set(ours.allowed_decisions), dict.fromkeys(theirs.allowed_decisions)
    if "ignore" in may and "reject" in takes:
        takes["ignore"] = None
    if "reject" in may and "ignore" in takes:
        may.add("ignore")
    return tuple(kind for kind in takes if kind in may)


def _description(ours: Ruling, theirs: Ruling) -> str:
    """The rule's own description, else the interrupt's, else the policy's prefix; and what the agent calls
    the action, where no tool may be called that."""
    own = ours.verdict.reason.startswith(ours.description or "?")
    said = "" if theirs.text == "" else theirs.description
    found = ours.description if own or not said else said
    if theirs.title is None:
        return found
    return f"{theirs.title}\n\n{found}" if own or said else theirs.title
