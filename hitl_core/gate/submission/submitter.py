"""An agent's calls → its stored review, step by step. A change of its policy is recorded first."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypedDict, Unpack

from hitl_core.errors import InvalidToolCall
from hitl_core.failpoints import failpoint
from hitl_core.gate.submission.calls import JudgedCalls, check_calls, check_redaction, judge_calls
from hitl_core.gate.submission.inputs import (
    check_agent,
    check_path,
    check_review_key,
    check_tools,
    list_path,
)
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey, open_turn
from hitl_core.model import Event, JsonObject, Review, ToolCall
from hitl_core.policy import Policy
from hitl_core.review import Reviews
from hitl_core.store import RejectedCall

log = logging.getLogger(__name__)


class NewReview(NamedTuple):
    """A review to store, its first event, and what people rejected in its thread."""

    review: Review
    event: Event
    rejected: Sequence[RejectedCall]


class SubmitOptions(TypedDict, total=False):
    """The optional arguments of `Gate.submit`."""

    requester: str | None
    turn: str | None
    context: Mapping[str, Any] | None
    tools: Mapping[str, JsonObject | None] | None
    path: Iterable[str]
    origin: str | None


class Submitter:
    """Submits the calls of one agent. Its methods raise what `Gate.submit` raises."""

    def __init__(self, reviews: Reviews, agent: str) -> None:
        check_agent(agent)
        self._reviews, self._agent = reviews, agent
        self._policy_recorder = PolicyRecorder(reviews)

    async def build_review(
        self,
        policy: Policy,
        calls: Iterable[ToolCall] | JudgedCalls,
        *,
        thread_id: str,
        **options: Unpack[SubmitOptions],
    ) -> NewReview:
        """The review to store. The arguments are those of `Gate.submit`. `policy` is recorded, without the
        run's context.
        """
        judged_calls = await self._judge(policy, calls, options)
        turn, requester, origin = (
            options.get("turn"),
            options.get("requester"),
            options.get("origin"),
        )
        review_key = ReviewKey(
            self._agent, thread_id, "" if turn is None else turn, requester, origin
        )
        check_review_key(review_key)
        check_path(judged_calls.path)
        if turn == "":
            raise InvalidToolCall("The turn has no name: leave it out, or give each turn its own.")
        check_redaction(judged_calls)
        await self._policy_recorder.record(self._agent, policy)
        ids, is_named = [call.id for call in judged_calls.calls], turn is not None
        review_key, state = await open_turn(self._reviews, review_key, ids, is_named=is_named)
        partitions = self._reviews.store.partitions
        return NewReview(
            *build_review(review_key, judged_calls, partitions, state.now), state.rejected
        )

    async def _judge(
        self,
        policy: Policy,
        calls: Iterable[ToolCall] | JudgedCalls,
        options: SubmitOptions,
    ) -> JudgedCalls:
        context, tools, path = options.get("context"), options.get("tools"), options.get("path", ())
        if isinstance(calls, JudgedCalls):
            if context is not None or tools is not None or list_path(path):
                raise InvalidToolCall(
                    "JudgedCalls are judged already: apply `context`, `tools` and `path` before, with"
                    " `policy.for_run(context)` for example."
                )
            return check_calls(calls)
        path = list_path(path)
        check_tools({} if tools is None else tools)
        policy = policy.for_run(context) if context is not None else policy
        return await judge_calls(policy, calls, tools=tools, path=path)

    async def store(self, new: NewReview) -> None:
        await failpoint("gate.before_submit")
        await self._reviews.submit(*new)
        await failpoint("gate.after_submit")


class PolicyRecorder:
    """Adds an entry `policy_changed` to the audit when an agent's policy file was replaced or rolled back. It
    calls the store once for each agent and policy, not at each submit.
    """

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews
        self._policy_hashes: dict[str, str] = {}

    async def record(self, agent: str, policy: Policy) -> None:
        """Call it before the first submit under this policy. Raises StoreUnavailable."""
        policy_hash = policy.hash
        if self._policy_hashes.get(agent) == policy_hash:
            return
        record = partial(self._reviews.store.record_policy, agent, policy_hash)
        before = await self._reviews.with_retry(record)
        self._policy_hashes[agent] = policy_hash
        if before not in (None, policy_hash):
            log.warning(
                "The policy of %r changed from %.12s… to %.12s…", agent, before, policy_hash
            )
