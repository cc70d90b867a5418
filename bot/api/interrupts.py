"""What another system asks, at the door: nothing of ours stands in front of its tools, so people are offered
nothing that it can't be told. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hitl_core import dialects
from hitl_core.dialects import answerable_decisions
from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.gate.outcome.answers import denial_text
from hitl_core.gate.submission.judging import MAX_CALLS, JudgedCalls
from hitl_core.model import DialectName, ToolCall
from hitl_core.policy import Ruling
from hitl_core.review.proposal import Proposal

from ..web.problems import ApiProblem


def read_requests(
    interrupt: Any, dialect: DialectName | None, thread_id: str, calls: Sequence[ToolCall]
) -> list[JudgedCalls]:
    """One for each interrupt in it; `calls` are those of the turn, where they are known. Raises Problem."""
    try:
        parts = dialects.split(interrupt)
        if len(parts) > MAX_CALLS:
            raise DialectError(f"These are more than {MAX_CALLS} interrupts at once.")
        requests = [
            dialects.get(dialect or dialects.detect(part)).load_request(part, thread_id, calls)
            for part in parts
        ]
    except (DialectError, InvalidToolCall) as error:
        raise _invalid_interrupt(str(error)) from error
    if (
        len(requests) > 1 and calls
    ):  # each would take what the others ask about for calls that need nobody
        detail = "They go with one interrupt; here are several."
        raise ApiProblem("invalid", detail, pointer="/calls")
    if len({tuple(call.id for call in each.calls) for each in requests}) < len(requests):
        raise _invalid_interrupt(
            "Several of these interrupts have the same call ids: submit each under a `turn` of its own."
        )
    return requests


def judge_interrupt(
    judged: JudgedCalls, original: JudgedCalls
) -> tuple[JudgedCalls, dict[str, Proposal]]:
    """What people are offered of an interrupt under the policy (see `offer.sayable`), and what the policy
    denies, by the calls' keys. Raises Problem where its system can't be told that, and for a call that would
    run unasked.
    """
    dialect = dialects.get(original.dialect)
    try:
        judged = answerable_decisions.limit_decisions(dialect, judged, original)
    except DialectError as error:
        raise _invalid_interrupt(str(error)) from error
    rulings: list[Ruling] = []
    denied: dict[str, Proposal] = {}
    each = zip(judged.calls, original.rulings, judged.rulings, strict=True)
    for key, (call, original_ruling, ruling) in enumerate(each, start=1):
        if ruling.verdict.kind != "deny":
            rulings.append(ruling)
            continue
        if original_ruling.verdict.kind == "allow":
            raise _missing_interrupt(ruling, call)
        kind = answerable_decisions.denial_type(dialect, original, str(key))
        message = denial_text(call.name, ruling.verdict)
        denied[str(key)] = Proposal(kind, 1, message, verbatim=True)
        verdict = ruling.verdict.model_copy(update={"kind": "review"})
        takes = original_ruling.allowed_decisions
        original_ruling = replace(original_ruling, verdict=verdict, route=ruling.route, takes=takes)
        rulings.append(replace(original_ruling, allowed_decisions=(kind,)))
    return judged._replace(rulings=rulings), denied


def _missing_interrupt(ruling: Ruling, call: ToolCall) -> ApiProblem:
    return _invalid_interrupt(
        f"The agent does not interrupt before `{call.name}`, and the policy stops it there:"
        f" {ruling.verdict.reason} Let it interrupt there as well."
    )


def _invalid_interrupt(detail: str) -> ApiProblem:
    return ApiProblem("invalid", detail, pointer="/interrupt")
