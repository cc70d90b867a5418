"""Judges interrupts of other systems. We can't stop their tools ourselves, so people are only offered
decisions that the system can express. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hitl_core import dialects
from hitl_core.dialects import answer_denial, limit_decisions
from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.gate import MAX_CALLS, JudgedCalls, denial_text
from hitl_core.model import DialectName, ToolCall
from hitl_core.policy import Ruling
from hitl_core.review import Denial

from ..web import ApiProblem


def read_requests(
    interrupt: Any, dialect: DialectName | None, thread_id: str, calls: Sequence[ToolCall]
) -> list[JudgedCalls]:
    """The calls of each interrupt. `calls`: all calls of the turn, if they are known. Raises ApiProblem."""
    try:
        parts = dialects.split(interrupt)
        if len(parts) > MAX_CALLS:
            raise DialectError(
                f"There are more than {MAX_CALLS} interrupts. Submit them separately."
            )
        requests = [
            dialects.get(dialect or dialects.detect(part)).load_request(part, thread_id, calls)
            for part in parts
        ]
    except (DialectError, InvalidToolCall) as error:
        raise _invalid_interrupt(str(error)) from error
    if len(requests) > 1 and calls:
        # Each interrupt would take the calls of the others for calls that need nobody.
        detail = "`calls` can only be sent with one interrupt, and there are several."
        raise ApiProblem("invalid", detail, pointer="/calls")
    if len({tuple(call.id for call in each.calls) for each in requests}) < len(requests):
        raise _invalid_interrupt(
            "Several of these interrupts have the same call ids. Submit each with its own `turn`."
        )
    return requests


def judge_interrupt(
    judged: JudgedCalls, original: JudgedCalls
) -> tuple[JudgedCalls, dict[str, Denial]]:
    """The interrupt with only the decisions that people may make on it (see `limit_decisions`), and the
    policy's denials by call key. Raises ApiProblem if the system can't express a denial, or if the policy
    stops a call that the system would run without an interrupt.
    """
    dialect = dialects.get(original.dialect)
    try:
        judged, denial_types = limit_decisions(dialect, judged, original)
    except DialectError as error:
        raise _invalid_interrupt(str(error)) from error
    rulings: list[Ruling] = []
    denied: dict[str, Denial] = {}
    each = zip(judged.calls, original.rulings, judged.rulings, strict=True)
    for key, (call, original_ruling, ruling) in enumerate(each, start=1):
        if ruling.verdict.kind != "deny":
            rulings.append(ruling)
            continue
        if original_ruling.verdict.kind == "allow":
            raise _missing_interrupt(ruling, call)
        kind = denial_types[str(key)]
        denied[str(key)] = Denial(kind, denial_text(call.name, ruling.verdict))
        rulings.append(answer_denial(ruling, original_ruling, kind))
    return judged._replace(rulings=rulings), denied


def _missing_interrupt(ruling: Ruling, call: ToolCall) -> ApiProblem:
    return _invalid_interrupt(
        f"The agent does not interrupt before `{call.name}`, but the policy stops that call:"
        f" {ruling.verdict.reason} Configure the agent to interrupt before it."
    )


def _invalid_interrupt(detail: str) -> ApiProblem:
    return ApiProblem("invalid", detail, pointer="/interrupt")
