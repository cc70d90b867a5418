"""Judges a submitted turn: its calls, with their rulings, ready for a review."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from hitl_core.dialects import apply_policy
from hitl_core.errors import DialectError, InvalidToolCall, PolicyError
from hitl_core.gate import (
    FrozenCalls,
    JudgedCalls,
    ReviewKey,
    SchemaChecks,
    build_review,
    check_redaction,
    freeze_calls,
    judge_calls,
)
from hitl_core.model import (
    MAX_BYTES,
    Arguments,
    Event,
    Review,
    ToolCall,
    encode,
    parsed_has_more_values,
)
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.review import Denial, deny_by_policy

from ..offload import offload_work
from ..web import ApiProblem, invalid_at
from . import interrupts
from .wire import MAX_VALUES, CallIn, Submit, SubmitInterrupt

T = TypeVar("T")


class JudgedTurn(NamedTuple):
    """`denied`: the policy's own decisions by call key."""

    request: JudgedCalls
    denied: Mapping[str, Denial] = {}

    def build(self, turn: ReviewKey, partitions: int, now: float) -> tuple[Review, Event]:
        """The review to store, with the policy's own decisions."""
        review, event = build_review(turn, self.request, partitions, now)
        return deny_by_policy(review, self.denied, now), event


async def judge_turn(
    policy: Policy, submission: Submit | SubmitInterrupt, *, large: bool = False
) -> list[JudgedTurn]:
    """One value for each review. Raises ApiProblem with the pointer of the wrong value. A `large` submission
    is checked in a thread.
    """
    if submission.context is not None:  # a small context may take as long as a large one
        policy = await offload_work(partial(_policy_for_run, policy, submission.context))
    _check_size(submission.tools, "/tools")
    if isinstance(submission, Submit):
        calls = await run_work(partial(_freeze_submitted, submission.calls), large)
        with invalid_at("/tools"):
            judged_calls = await judge_calls(policy, calls, tools=submission.tools)
        with invalid_at("/calls"):
            await run_work(partial(check_redaction, judged_calls), large)
        return [JudgedTurn(judged_calls)]
    judged_turns: list[JudgedTurn] = []
    checks = SchemaChecks()
    for each in await run_work(partial(_read_interrupts, submission), large):
        await asyncio.sleep(0)
        try:
            judged_calls = await apply_policy(policy, each, tools=submission.tools, checks=checks)
        except DialectError as error:
            raise ApiProblem("invalid", str(error), pointer="/interrupt") from error
        except InvalidToolCall as error:
            raise ApiProblem("invalid", str(error), pointer="/tools") from error
        judge = partial(interrupts.judge_interrupt, judged_calls, each)
        judged_turn = JudgedTurn(*await run_work(judge, large))
        with invalid_at("/interrupt"):
            await run_work(partial(check_redaction, judged_turn.request), large)
        judged_turns.append(judged_turn)
    return judged_turns


async def run_work(work: Callable[[], T], large: bool) -> T:
    """Returns `work()`, in a thread if it is `large`."""
    return await offload_work(work) if large else work()


def _freeze_submitted(call_bodies: Sequence[CallIn]) -> FrozenCalls:
    return _freeze(*_read_calls(call_bodies), "/calls")


def _read_interrupts(submission: SubmitInterrupt) -> list[JudgedCalls]:
    calls, _ = _read_calls(submission.calls)
    requests = interrupts.read_requests(
        submission.interrupt, submission.dialect, submission.thread_id, calls
    )
    return [each._replace(calls=_freeze(each.calls, None, "/interrupt")) for each in requests]


def _freeze(
    calls: Sequence[ToolCall], encoded_args: Sequence[Arguments] | None, where: str
) -> FrozenCalls:
    with invalid_at(where):
        frozen = freeze_calls(calls, encoded_args)
    if parsed_has_more_values([call.args for call in frozen], MAX_VALUES):
        # JSON text in an argument may have more values inside.
        detail = f"A turn may have at most {MAX_VALUES:,} JSON values; this one has more."
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


def _read_calls(call_bodies: Sequence[CallIn]) -> tuple[list[ToolCall], list[Arguments]]:
    """The calls, and their arguments encoded. Raises ApiProblem with the pointer of the wrong call."""
    calls: list[ToolCall] = []
    encoded_args: list[Arguments] = []
    for index, call in enumerate(call_bodies):
        where = f"/calls/{index}"
        try:
            calls.append(ToolCall(call.id, call.name, call.args, call.reason))
            where += "/args"
            encoded_args.append(encode(call.args))
        except InvalidToolCall as error:
            raise ApiProblem("invalid", str(error), pointer=where) from error
    return calls, encoded_args


def _check_size(value: Mapping[str, Any], where: str) -> None:
    """Limit a value that is stored again with every change of a review, or that is read as a policy."""
    try:
        size = len(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError as error:
        detail = "This contains half a surrogate pair, which is not valid text."
        raise ApiProblem("invalid", detail, pointer=where) from error
    if size > MAX_BYTES:
        raise ApiProblem("invalid", f"This may have at most {MAX_BYTES:,} bytes.", pointer=where)
