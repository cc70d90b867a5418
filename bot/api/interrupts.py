"""What another system asks, at the door: nothing of ours stands in front of its tools, so people are offered
nothing that it can't be told. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.api.problems import Problem
from hitl_core import dialects
from hitl_core.dialects import Dialect
from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.gate.answers import denial
from hitl_core.gate.request import MAX_CALLS, Request
from hitl_core.model import DecisionType, DialectName, ToolCall
from hitl_core.policy import Ruling
from hitl_core.review.proposal import Proposal

#: How a system is told what the policy denies: the first of these that it takes.
_NO: tuple[DecisionType, ...] = ("reject", "ignore")


def read(
    interrupt: Any, dialect: DialectName | None, thread_id: str, calls: Sequence[ToolCall]
) -> list[Request]:
    """One for each interrupt in it; `calls` are those of the turn, where they are known. Raises Problem."""
    try:
        parts = dialects.split(interrupt)
        if len(parts) > MAX_CALLS:
            raise DialectError(f"These are more than {MAX_CALLS} interrupts at once.")
        found = [
            dialects.get(dialect or dialects.detect(part)).load_request(part, thread_id, calls)
            for part in parts
        ]
    except (DialectError, InvalidToolCall) as error:
        raise _wrong(str(error)) from error
    if (
        len(found) > 1 and calls
    ):  # each would take what the others ask about for calls that need nobody
        told = "They go with one interrupt; here are several."
        raise Problem("invalid", told, pointer="/calls")
    if len({tuple(call.id for call in each.calls) for each in found}) < len(found):
        raise _wrong(
            "Several of these interrupts have the same call ids: submit each under a `turn` of its own."
        )
    return found


def offered(made: Request, asked: Request) -> tuple[Request, dict[str, Proposal]]:
    """What people are offered of an interrupt that stands under the policy: nothing that its system can't be
    told. And what the policy denies, by the calls' keys. Raises Problem where that can't be told either, or
    a call would run unasked.
    """
    dialect = dialects.get(asked.dialect)
    rulings: list[Ruling] = []
    denied: dict[str, Proposal] = {}
    renames = True
    each = zip(made.calls, asked.rulings, made.rulings, strict=True)
    for key, (call, theirs, ruling) in enumerate(each, start=1):
        denies = ruling.verdict.kind == "deny"
        if theirs.verdict.kind == "allow":
            if denies:
                raise _unasked(ruling, call)
        elif denies:
            no = denied[str(key)] = _no(dialect, theirs, ruling, call)
            verdict = ruling.verdict.model_copy(update={"kind": "review"})
            ruling = replace(theirs, verdict=verdict, route=ruling.route)
            ruling = replace(ruling, allowed_decisions=(no.type,))
        else:
            ruling = _sayable(dialect, theirs, ruling, call)
            allowed = ruling.allowed_decisions
            renames &= "edit" not in allowed or dialect.takes("edit", allowed, renames=True)
        rulings.append(ruling)
    return made._replace(rulings=rulings, tools=made.tools if renames else {}), denied


def _unasked(ruling: Ruling, call: ToolCall) -> Problem:
    return _wrong(
        f"The agent does not interrupt before `{call.name}`, and the policy stops it there:"
        f" {ruling.verdict.reason} Let it interrupt there as well."
    )


def _no(dialect: Dialect, theirs: Ruling, ruling: Ruling, call: ToolCall) -> Proposal:
    """The policy's own decision, as its system can be told of it."""
    allowed = theirs.allowed_decisions
    kind: DecisionType | None = next(
        (kind for kind in _NO if kind in allowed and dialect.takes(kind, allowed)), None
    )
    if kind is None:
        raise _wrong(
            f"The policy denies `{call.name}`, and the interrupt takes no rejection of it, only"
            f" {', '.join(allowed)}."
        )
    return Proposal(kind, 1, denial(call.name, ruling.verdict.reason), verbatim=True)


def _sayable(dialect: Dialect, theirs: Ruling, ruling: Ruling, call: ToolCall) -> Ruling:
    """With those decisions only that the interrupt takes, and that its system has a word for."""
    taken = theirs.allowed_decisions
    may: list[DecisionType] = [kind for kind in ruling.allowed_decisions if kind in taken]
    allowed: tuple[DecisionType, ...] = tuple(k for k in may if dialect.takes(k, may))
    if not allowed:
        raise _wrong(
            f"{dialect.name} can't be told {', '.join(ruling.allowed_decisions)}, all that may be decided"
            f" on `{call.name}`."
        )
    expire = ruling.route.expire
    if expire and not dialect.takes(expire.decision, allowed, message=expire.message):
        raise _wrong(
            f"The policy's deadline would {expire.decision} `{call.name}`, and the interrupt takes only"
            f" {', '.join(allowed)}."
        )
    return replace(ruling, allowed_decisions=allowed)


def _wrong(told: str) -> Problem:
    return Problem("invalid", told, pointer="/interrupt")
