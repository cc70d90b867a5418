"""The `Gate`: submit tool calls for review, and get what people decided."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self, Unpack, overload
from uuid import uuid4

from hitl_core.gate.connection import opens_in
from hitl_core.gate.guard import GuardDecorator, P, R, guard_function, thread_scope
from hitl_core.gate.outcome import Outcome
from hitl_core.gate.submission import (
    JudgedCalls,
    SubmitOptions,
    Submitter,
    check_cancel_reason,
    check_seconds,
)
from hitl_core.gate.waiting import HEARTBEAT_TTL, LEASE, ReviewListener, Waiter, cancellation
from hitl_core.model import JsonObject, ToolCall
from hitl_core.policy import Policy
from hitl_core.review import Reviews
from hitl_core.store import RedisStore, Store


def _load_policy(policy: object) -> Policy:
    """Raises PolicyError for a file that is not a policy, TypeError for any other value."""
    if isinstance(policy, str | Path):
        return Policy.load(policy)
    if not isinstance(policy, Policy):
        raise TypeError(
            f"`policy` must be a Policy or the path of its file, not {type(policy).__name__}."
        )
    return policy


class Gate:
    """`async with Gate.connect(url, policy=policy, agent="billing") as gate`.

    `policy` is a Policy, or the path of its file. `agent` is the name of the program: its processes may
    continue each other's reviews. A tool may run only when `review`, `wait` or `outcomes` returns its call.
    `lease`, in seconds, is how long a claim stays valid after its last renewal; `heartbeat_ttl`, in seconds,
    is how long after its last heartbeat a waiting process counts as alive.
    """

    def __init__(
        self,
        store: Store,
        *,
        policy: Policy | str | Path,
        agent: str,
        lease: float = LEASE,
        heartbeat_ttl: float = HEARTBEAT_TTL,
    ) -> None:
        check_seconds("lease", lease)
        check_seconds("heartbeat_ttl", heartbeat_ttl)
        self.policy, self.agent, self.lease = _load_policy(policy), agent, lease
        self.process = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self.reviews = Reviews(store, retry_seconds=10.0)
        self._submitter = Submitter(self.reviews, agent)
        self._listener = ReviewListener(self.reviews, agent, self.process, heartbeat_ttl)
        self._waiter = Waiter(
            self.reviews, self._listener, agent, self.process, lease, heartbeat_ttl
        )

    @classmethod
    @opens_in("async with Gate.connect(…) as gate:")
    @contextlib.asynccontextmanager
    async def connect(
        cls,
        url: str | None = None,
        *,
        policy: Policy | str | Path,
        agent: str,
        lease: float = LEASE,
        heartbeat_ttl: float = HEARTBEAT_TTL,
        partitions: int | None = None,
    ) -> AsyncGenerator[Self, None]:
        """Open a gate on the Redis at `url`; without one, at HITL_REDIS_URL of the environment, or else at
        `redis://localhost:6379/0`. Raises PolicyError for a file that is not a policy, SettingsError for
        a Redis that could lose reviews, StoreUnavailable when Redis doesn't answer.
        """
        policy = _load_policy(policy)
        store = await RedisStore.open(url, partitions=partitions)
        try:
            async with cls(
                store, policy=policy, agent=agent, lease=lease, heartbeat_ttl=heartbeat_ttl
            ) as gate:
                yield gate
        finally:
            await store.close()

    async def __aenter__(self) -> Self:
        await self._listener.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._waiter.finish_cleanup(timeout=2.0)
        await self._listener.stop()

    async def review(
        self,
        calls: Iterable[ToolCall] | JudgedCalls,
        *,
        thread_id: str,
        **options: Unpack[SubmitOptions],
    ) -> Outcome:
        """Submit and wait. See `submit` for the arguments and the errors."""
        self._listener.check_not_closed()
        new = await self._submitter.build_review(self.policy, calls, thread_id=thread_id, **options)
        # Watch the review before it is stored: otherwise `outcomes` in this process could claim it.
        review = new.review.model_copy(update={"waiting_process": self.process})
        with self._waiter.reserve(review.id):
            await self._submitter.store(new._replace(review=review))
            return await self.wait(review.id)

    async def submit(
        self,
        calls: Iterable[ToolCall] | JudgedCalls,
        *,
        thread_id: str,
        requester: str | None = None,
        turn: str | None = None,
        context: Mapping[str, Any] | None = None,
        tools: Mapping[str, JsonObject | None] | None = None,
        path: Iterable[str] = (),
        origin: str | None = None,
    ) -> str:
        """Store the review of one model turn, and return its id at once.

        Submitting the same turn again returns the same review. `turn` names the turn, because models reuse
        call ids; without a name, the same call ids start a new review only after their last review is done.
        `requester` is the chat user for whom the agent acts, "U0123ABCD". `origin` is the thread in which
        that person asked, "slack:C0123ABCD/1700000000.000100" or "teams:19:…@thread.tacv2/1700000000000", for
        policies that notify it. `context` is the configuration of this run, which can make the policy
        stricter (see `Policy.for_run`). `tools` are the agent's tools by name, each with the JSON Schema of
        its arguments or None: the schema is enforced when the policy has none, and an edit may switch to
        another of these tools if the policy allows it. `path`: the agents that led here, the outermost first.

        An integration can pass `JudgedCalls`, with their rulings, and then no `context`, `tools` and `path`.
        Raises InvalidToolCall, PolicyError for a bad context, ReviewConflict, StoreUnavailable.
        """
        self._listener.check_not_closed()
        new = await self._submitter.build_review(
            self.policy,
            calls,
            thread_id=thread_id,
            requester=requester,
            turn=turn,
            context=context,
            tools=tools,
            path=path,
            origin=origin,
        )
        await self._submitter.store(new)
        return new.review.id

    async def wait(self, review_id: str) -> Outcome:
        """Wait until every call is decided and this process has claimed the review.

        Waiting holds no connection, and continues after the store was unavailable. The outcome of a review
        that is already done has nothing to execute. Raises ReviewNotFound, and GateClosed when the gate is
        closed during the wait.
        """
        return await self._waiter.wait(review_id)

    def outcomes(self) -> AsyncGenerator[Outcome, None]:
        """Yield every review of this agent that is ready and that no living process waits for. Never ends.

        Use it in workers and after a restart: the reviews of a dead process are among them.
        """
        return self._waiter.outcomes()

    async def cancel(self, review_id: str, reason: str | None = None) -> None:
        """Cancel a review that nobody needs to decide any more, because the run was stopped for example.

        Its cards show that, with the reason; a process that waits for it gets an outcome with nothing to
        execute. Raises Refused when a process has already claimed it, ReviewNotFound, StoreUnavailable.
        """
        self._listener.check_not_closed()
        check_cancel_reason(reason)
        apply = partial(cancellation.cancel, agent=self.agent, reason=reason)
        await self.reviews.change(review_id, f"cancel:{uuid4().hex}", apply)

    async def withdraw(self, review_id: str, reason: str | None = None) -> Outcome:
        """Cancel a review that still waits for people, and claim it here, before any other process can.

        Raises Refused("busy") when all of its calls are already decided, and what `cancel` and `wait` raise.
        """
        self._listener.check_not_closed()
        check_cancel_reason(reason)
        apply = partial(
            cancellation.withdraw, agent=self.agent, process=self.process, reason=reason
        )
        with self._waiter.reserve(review_id):
            await self.reviews.change(review_id, f"withdraw:{uuid4().hex}", apply)
            return await self.wait(review_id)

    @overload
    def guard(
        self, function: Callable[P, Coroutine[Any, Any, R]], *, name: str | None = None
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def guard(
        self, function: Callable[P, R], *, name: str | None = None
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def guard(self, *, name: str | None = None) -> GuardDecorator: ...
    def guard(self, function: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
        """`@gate.guard`, `@gate.guard(name="send_email")`, `gate.guard(mailer.send)`: a call of the function
        waits for a decision, runs with the decided arguments, and returns the function's result.

        The tool's name is the name of the function, or `name`. The arguments, with defaults, must be plain
        JSON, and the function gets them as JSON: a tuple as a list, an Enum as its value. A sync function
        runs in a thread. If a person answered in place of the tool, or confirmed after a crash that it ran,
        the call returns that text. If an equal call of its thread ran at the same time, it raises Rejected.

        Calls belong to the `thread` block around them: a script that runs again in the same thread finds the
        decisions of its last run; a call whose review is done is asked again. Without a `thread` block, each
        call has a thread of its own, and a later run doesn't find it.

        Raises TypeError at once for a function that can't be reviewed: a method without its object, `*args`,
        a generator. The call raises Rejected when it must not run, with the text that a model would get;
        InvalidToolCall for an argument that is not JSON; LeaseLost and StoreUnavailable when it is not known
        whether the tool ran. Call it again in the same `thread` block then, or after a cancellation: it is
        the same call, and a person is asked whether it ran.
        """
        if function is None:
            return partial(self.guard, name=name)
        return guard_function(self.review, function, name)

    def thread(
        self,
        thread_id: str,
        requester: str | None = None,
        origin: str | None = None,
        reason: str | None = None,
    ) -> contextlib.AbstractContextManager[None]:
        """`with gate.thread("t-42"):` guarded calls in this block belong to this thread. `reason` says why
        the agent wants them: see `ToolCall`.
        """
        return thread_scope(thread_id, requester, origin, reason)
