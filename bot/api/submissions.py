"""A turn as it was submitted → what becomes a review: judged, and nothing left to look up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from hitl_core.dialects.apply_policy import apply_policy
from hitl_core.errors import DialectError, InvalidToolCall, PolicyError
from hitl_core.gate.submission import judging
from hitl_core.gate.submission.calls import FrozenCalls
from hitl_core.gate.submission.judging import JudgedCalls, ReviewKey
from hitl_core.model import Event, Review, Reviewer, ToolCall, encode
from hitl_core.model.arguments import MAX_BYTES
from hitl_core.model.decision import POLICY as POLICY_CHANNEL
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.review import decisions
from hitl_core.review.proposal import Proposal

from ..offload import offload_work
from ..web.problems import ApiProblem, invalid_at
from . import interrupts
from .wire.bodies import MAX_VALUES
from .wire.requests import CallIn, Submit, SubmitInterrupt

T = TypeVar("T")

#: Who denies what an interrupt asks about, so that its system gets an answer.
POLICY_REVIEWER = Reviewer(channel=POLICY_CHANNEL, team="", id="policy", name="The policy")


class JudgedTurn(NamedTuple):
    """`denied`: what the policy itself decides, by the calls' keys."""

    request: JudgedCalls
    denied: Mapping[str, Proposal] = {}

    def build(self, turn: ReviewKey, partitions: int, now: float) -> tuple[Review, Event]:
        """The review that is stored, the policy's own decisions in it."""
        review, event = judging.build_review(turn, self.request, partitions, now)
        for key, proposal in self.denied.items():
            review = decisions.decide(review, key, proposal, POLICY_REVIEWER, now).review
        return review, event


async def judge_turn(
    policy: Policy, submission: Submit | SubmitInterrupt, *, large: bool = False
) -> list[JudgedTurn]:
    """A review each. Raises Problem with the pointer of what is wrong. What is `large` is checked beside the
    event loop.
    """
    if submission.context is not None:  # a small one may take as long as a large one
        policy = await offload_work(partial(_policy_for_run, policy, submission.context))
    _check_size(submission.tools, "/tools")
    if isinstance(submission, Submit):
        calls = await _run_work(partial(_freeze_submitted, submission.calls), large)
        with invalid_at("/tools"):
            judged_calls = await judging.judge_calls(policy, calls, tools=submission.tools)
        with invalid_at("/calls"):
            judging.check_redaction(judged_calls)
        return [JudgedTurn(judged_calls)]
    judged_turns: list[JudgedTurn] = []
    for each in await _run_work(partial(_read_interrupts, submission), large):
        await asyncio.sleep(0)
        try:
            judged_calls = await apply_policy(policy, each, tools=submission.tools)
        except DialectError as error:
            raise ApiProblem("invalid", str(error), pointer="/interrupt") from error
        except InvalidToolCall as error:
            raise ApiProblem("invalid", str(error), pointer="/tools") from error
        judged_turn = JudgedTurn(*interrupts.judge_interrupt(judged_calls, each))
        with invalid_at("/interrupt"):
            judging.check_redaction(judged_turn.request)
        judged_turns.append(judged_turn)
    return judged_turns


async def _run_work(work: Callable[[], T], large: bool) -> T:
    return await offload_work(work) if large else work()


def _freeze_submitted(call_bodies: Sequence[CallIn]) -> FrozenCalls:
    return _freeze(_tool_calls(call_bodies), "/calls")


def _read_interrupts(submission: SubmitInterrupt) -> list[JudgedCalls]:
    calls = _tool_calls(submission.calls)
    requests = interrupts.read_requests(
        submission.interrupt, submission.dialect, submission.thread_id, calls
    )
    return [each._replace(calls=_freeze(each.calls, "/interrupt")) for each in requests]


def _freeze(calls: Sequence[ToolCall], where: str) -> FrozenCalls:
    with invalid_at(where):
        frozen = judging.freeze_calls(calls)
    if judging.has_more_than(MAX_VALUES, [call.args for call in frozen]):  # JSON text may hide them
        detail = f"A turn may have {MAX_VALUES:,} JSON values at most; this has more."
        raise ApiProblem("invalid", detail, pointer=where)
    return frozen


def _policy_for_run(policy: Policy, context: dict[str, Any]) -> Policy:
    _check_size(context, "/context")
    try:
        return policy.for_run(context)
    except InvalidPolicy as error:
        first = error.problems[0]
        detail = ": ".join(filter(None, (first.path, first.message)))
        raise ApiProblem("invalid", detail, pointer="/context") from error
    except PolicyError as error:
        raise ApiProblem("invalid", str(error), pointer="/context") from error


def _tool_calls(call_bodies: Sequence[CallIn]) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for index, call in enumerate(call_bodies):
        where = f"/calls/{index}"
        try:
            calls.append(ToolCall(call.id, call.name, call.args))
            where += "/args"
            encode(call.args)
        except InvalidToolCall as error:
            raise ApiProblem("invalid", str(error), pointer=where) from error
    return calls


def _check_size(value: Mapping[str, Any], where: str) -> None:
    """What every change of a review writes again, or a whole policy is read from."""
    try:
        size = len(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError as error:
        detail = "This holds half a surrogate pair, which is no text."
        raise ApiProblem("invalid", detail, pointer=where) from error
    if size > MAX_BYTES:
        raise ApiProblem("invalid", f"This may take {MAX_BYTES:,} bytes at most.", pointer=where)
