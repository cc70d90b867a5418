"""What another system asks, at the door: nothing of ours stands in front of its tools, so people are offered
nothing that it can't be told. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.api.problems import Problem
from hitl_core import dialects
from hitl_core.dialects import offer
from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.gate.answers import denial
from hitl_core.gate.request import MAX_CALLS, Request
from hitl_core.model import DialectName, ToolCall
from hitl_core.policy import Ruling
from hitl_core.review.proposal import Proposal


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
    """What people are offered of an interrupt under the policy (see `offer.sayable`), and what the policy
    denies, by the calls' keys. Raises Problem where its system can't be told that, and for a call that would
    run unasked.
    """
    dialect = dialects.get(asked.dialect)
    try:
        made = offer.sayable(dialect, made, asked)
    except DialectError as error:
        raise _wrong(str(error)) from error
    rulings: list[Ruling] = []
    denied: dict[str, Proposal] = {}
    each = zip(made.calls, asked.rulings, made.rulings, strict=True)
    for key, (call, theirs, ruling) in enumerate(each, start=1):
        if ruling.verdict.kind != "deny":
            rulings.append(ruling)
            continue
        if theirs.verdict.kind == "allow":
            raise _unasked(ruling, call)
        kind = offer.no_of(dialect, asked, str(key))
        told = denial(call.name, ruling.verdict)
        denied[str(key)] = Proposal(kind, 1, told, verbatim=True)
        verdict = ruling.verdict.model_copy(update={"kind": "review"})
        takes = theirs.allowed_decisions
        theirs = replace(theirs, verdict=verdict, route=ruling.route, takes=takes)
        rulings.append(replace(theirs, allowed_decisions=(kind,)))
    return made._replace(rulings=rulings), denied


def _unasked(ruling: Ruling, call: ToolCall) -> Problem:
    return _wrong(
        f"The agent does not interrupt before `{call.name}`, and the policy stops it there:"
        f" {ruling.verdict.reason} Let it interrupt there as well."
    )


def _wrong(told: str) -> Problem:
    return Problem("invalid", told, pointer="/interrupt")
