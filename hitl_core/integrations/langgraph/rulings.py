"""LangChain's configuration and our policy become one ruling a call. Pure.

Which tools interrupt is LangChain's business; the policy adds schema, places and deadlines by tool
name, and may only tighten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hitl_core.errors import IntegrationError
from hitl_core.model import DecisionType, ToolCall, Verdict
from hitl_core.policy import Ruling


class Asked(NamedTuple):
    """What an interrupt says about one call: which decisions it takes, and why it asks."""

    allowed: tuple[DecisionType, ...]
    description: str


def gated(ruling: Ruling, call: ToolCall, asked: Asked, schema: dict[str, Any] | None) -> Ruling:
    """A call that an interrupt asks about: always reviewed, unless the policy denies it.

    `ruling` is the policy's, `schema` the tool's own, for where the policy has none. Raises
    IntegrationError where the two sides leave nothing that could be decided.
    """
    if ruling.verdict.kind == "deny":
        return ruling
    asks = ruling.verdict.kind == "review"
    by_rule = asks and ruling.verdict.rule is not None
    allowed = asked.allowed
    if by_rule:
        # LangChain has no word for skipping a call: it is told as a rejection, where it takes one.
        skips: tuple[DecisionType, ...] = ("ignore",) if "reject" in allowed else ()
        allowed = tuple(kind for kind in (*allowed, *skips) if kind in ruling.allowed_decisions)
    if not allowed:
        raise IntegrationError(
            f"Nothing can be decided on `{call.name}`: the interrupt takes {_listed(asked.allowed)}"
            + (f", the policy {_listed(ruling.allowed_decisions)}." if by_rule else ".")
        )
    verdict = ruling.verdict
    if not asks:
        reason = "The agent interrupts before this tool."
        verdict = Verdict(kind="review", rule=verdict.rule, reason=reason)
    return replace(
        ruling,
        verdict=verdict,
        description=_description(ruling, asked),
        allowed_decisions=allowed,
        args_schema=ruling.args_schema or schema,
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


def _description(ruling: Ruling, asked: Asked) -> str:
    """The rule's own description, else the interrupt's, else the policy's prefix."""
    own = ruling.verdict.reason.startswith(ruling.description or "?")
    return ruling.description if own else asked.description or ruling.description


def _listed(kinds: Sequence[str]) -> str:
    return ", ".join(kinds) or "no decision that we know"
