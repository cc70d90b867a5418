"""A turn as it was submitted → what becomes a review: judged, and nothing left to look up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from bot.api import interrupts
from bot.api.asked import CallIn, Submit, SubmitInterrupt
from bot.api.bodies import MAX_VALUES
from bot.api.problems import Problem, invalid
from bot.beside import beside
from hitl_core.dialects.interrupted import under_policy
from hitl_core.errors import DialectError, InvalidToolCall, PolicyError
from hitl_core.gate import request
from hitl_core.gate.calls import Frozen
from hitl_core.gate.request import Request, Turn
from hitl_core.model import Event, Review, Reviewer, ToolCall, encode
from hitl_core.model.arguments import MAX_BYTES
from hitl_core.model.decision import POLICY as POLICY_CHANNEL
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.review import transitions
from hitl_core.review.proposal import Proposal

T = TypeVar("T")

#: Who denies what an interrupt asks about, so that its system gets an answer.
POLICY = Reviewer(channel=POLICY_CHANNEL, team="", id="policy", name="The policy")


class Judged(NamedTuple):
    """`denied`: what the policy itself decides, by the calls' keys."""

    request: Request
    denied: Mapping[str, Proposal] = {}

    def build(self, turn: Turn, partitions: int, now: float) -> tuple[Review, Event]:
        """The review that is stored, the policy's own decisions in it."""
        review, event = request.build_from(turn, self.request, partitions, now)
        for key, proposal in self.denied.items():
            review = transitions.decide(review, key, proposal, POLICY, now).review
        return review, event


async def judged(
    policy: Policy, asked: Submit | SubmitInterrupt, *, large: bool = False
) -> list[Judged]:
    """A review each. Raises Problem with the pointer of what is wrong. What is `large` is checked beside the
    event loop.
    """
    if asked.context is not None:  # a small one may take as long as a large one
        policy = await beside(partial(_for_run, policy, asked.context))
    _check_small(asked.tools, "/tools")
    if isinstance(asked, Submit):
        calls = await _done(partial(_frozen_calls, asked.calls), large)
        with invalid("/tools"):
            made = await request.judged(policy, calls, tools=asked.tools)
        with invalid("/calls"):
            request.check_clear(made)
        return [Judged(made)]
    found: list[Judged] = []
    for each in await _done(partial(_interrupts, asked), large):
        await asyncio.sleep(0)
        try:
            made = await under_policy(policy, each, tools=asked.tools)
        except DialectError as error:
            raise Problem("invalid", str(error), pointer="/interrupt") from error
        except InvalidToolCall as error:
            raise Problem("invalid", str(error), pointer="/tools") from error
        offered = Judged(*interrupts.offered(made, each))
        with invalid("/interrupt"):
            request.check_clear(offered.request)
        found.append(offered)
    return found


async def _done(work: Callable[[], T], large: bool) -> T:
    return await beside(work) if large else work()


def _frozen_calls(asked: Sequence[CallIn]) -> Frozen:
    return _frozen(_calls(asked), "/calls")


def _interrupts(asked: SubmitInterrupt) -> list[Request]:
    calls = _calls(asked.calls)
    found = interrupts.read(asked.interrupt, asked.dialect, asked.thread_id, calls)
    return [each._replace(calls=_frozen(each.calls, "/interrupt")) for each in found]


def _frozen(calls: Sequence[ToolCall], where: str) -> Frozen:
    with invalid(where):
        frozen = request.frozen(calls)
    if request.more_than(MAX_VALUES, [call.args for call in frozen]):  # JSON text may hide them
        told = f"A turn may have {MAX_VALUES:,} JSON values at most; this has more."
        raise Problem("invalid", told, pointer=where)
    return frozen


def _for_run(policy: Policy, context: dict[str, Any]) -> Policy:
    _check_small(context, "/context")
    try:
        return policy.for_run(context)
    except InvalidPolicy as error:
        first = error.problems[0]
        told = ": ".join(filter(None, (first.path, first.message)))
        raise Problem("invalid", told, pointer="/context") from error
    except PolicyError as error:
        raise Problem("invalid", str(error), pointer="/context") from error


def _calls(asked: Sequence[CallIn]) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for index, call in enumerate(asked):
        where = f"/calls/{index}"
        try:
            calls.append(ToolCall(call.id, call.name, call.args))
            where += "/args"
            encode(call.args)
        except InvalidToolCall as error:
            raise Problem("invalid", str(error), pointer=where) from error
    return calls


def _check_small(value: Mapping[str, Any], where: str) -> None:
    """What every change of a review writes again, or a whole policy is read from."""
    try:
        size = len(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError as error:
        told = "This holds half a surrogate pair, which is no text."
        raise Problem("invalid", told, pointer=where) from error
    if size > MAX_BYTES:
        raise Problem("invalid", f"This may take {MAX_BYTES:,} bytes at most.", pointer=where)
