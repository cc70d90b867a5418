"""The agent's side: hand over tool calls, get back what people decided."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self, overload
from uuid import uuid4

from hitl_core.errors import Refused, ReviewNotFound, StoreError, StoreUnavailable
from hitl_core.failpoints import failpoint
from hitl_core.gate.guard import GuardDecorator, P, R, guard_function, thread_scope
from hitl_core.gate.outcome.outcome import Outcome
from hitl_core.gate.submission import judging
from hitl_core.gate.submission.judging import JudgedCalls, ReviewKey
from hitl_core.gate.submission.policy_recorder import PolicyRecorder
from hitl_core.gate.submission.review_key import find_next_turn
from hitl_core.gate.waiting.claims import Claims
from hitl_core.gate.waiting.listener import HEARTBEAT_TTL, POLL_INTERVAL, ReviewListener
from hitl_core.gate.waiting.watchers import wait_for_event
from hitl_core.model import Event, Place, Review, ToolCall
from hitl_core.model.arguments import JsonObject
from hitl_core.policy import Policy
from hitl_core.review import state_machine
from hitl_core.review.service import Reviews
from hitl_core.review.state_machine import Transition
from hitl_core.store import RedisStore, Store

log = logging.getLogger(__name__)

#: How long a claim holds after its process's last sign of life, in seconds.
LEASE = 30.0


def _load_policy(policy: object) -> Policy:
    """Raises PolicyError for a file that is none, TypeError for anything else."""
    if isinstance(policy, str | Path):
        return Policy.load(policy)
    if not isinstance(policy, Policy):
        raise TypeError(
            f"`policy` is a Policy, or the path of its file, not {type(policy).__name__}."
        )
    return policy


class Gate:
    """`async with Gate.connect(url, policy=policy, agent="billing") as gate`.

    `policy` is a Policy, or the path of its file. `agent` names the program whose processes may take up each
    other's reviews. Nothing runs unless `review` (or `wait`, or `settled`) hands it over. `lease` and
    `alive`, in seconds: how long a claim, and a claim to be waiting, hold after the process's last sign of
    life.
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
        self.policy, self.agent = _load_policy(policy), agent
        self.process = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self.reviews = Reviews(store, retry_seconds=10.0)
        self._policy_recorder = PolicyRecorder(self.reviews)
        self._store, self._lease, self._heartbeat_ttl = store, lease, heartbeat_ttl
        self._cleanup_tasks: set[asyncio.Task[None]] = set()
        self._listener = ReviewListener(store, agent, self.process, heartbeat_ttl)

    @classmethod
    @contextlib.asynccontextmanager
    async def connect(
        cls,
        url: str,
        *,
        policy: Policy | str | Path,
        agent: str,
        lease: float = LEASE,
        heartbeat_ttl: float = HEARTBEAT_TTL,
        partitions: int | None = None,
    ) -> AsyncGenerator[Self, None]:
        """Raises PolicyError for a file that is no policy, SettingsError for a Redis that would lose reviews,
        StoreUnavailable where none answers.
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
        if self._cleanup_tasks:
            await asyncio.wait(self._cleanup_tasks, timeout=2.0)
        await self._listener.stop()

    async def review(
        self,
        calls: Iterable[ToolCall] | JudgedCalls,
        *,
        thread_id: str,
        requester: str | None = None,
        turn: str | None = None,
        context: Mapping[str, Any] | None = None,
        tools: Mapping[str, JsonObject | None] | None = None,
        path: Iterable[str] = (),
        origin: Place | None = None,
    ) -> Outcome:
        """Submit and wait. See `submit` for what each word means and what is raised."""
        judged_calls = await self._judge(calls, context, tools, path)
        review, event = await self._build_review(judged_calls, thread_id, requester, turn, origin)
        # Watched before it is stored: else `settled` of this process could take it away.
        with self._listener.watch(review.id):
            await self._store_new(review.model_copy(update={"waiter": self.process}), event)
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
        origin: Place | None = None,
    ) -> str:
        """Store the review of one model turn and return its id at once.

        Submitting the same turn again finds the same review. `turn` names it, because models use call
        ids again; without one, the next review starts when the last of these ids is done. `requester` is
        the chat user on whose behalf the agent acts, "U0123ABCD"; `origin` the thread in which that person
        asked, "slack:C0123ABCD/1700000000.000100", for policies that notify it. `context` is this run's own
        configuration, which may make the policy stricter (see `Policy.for_run`). `tools` are the agent's, by
        name, each with the JSON Schema of its arguments or None: theirs is enforced where the policy has
        none, and an edit may name another of them where the policy allows that one too. `path` names the
        agents that led here.
        An integration may give a whole Request, with its rulings; then nothing else is judged.
        Raises InvalidToolCall, PolicyError for a context, ReviewConflict, StoreUnavailable.
        """
        judged_calls = await self._judge(calls, context, tools, path)
        review, event = await self._build_review(judged_calls, thread_id, requester, turn, origin)
        await self._store_new(review, event)
        return review.id

    async def wait(self, review_id: str) -> Outcome:
        """Wait until everything is decided and this process has the review. Holds no connection.

        Survives a store that is away for a while. Of a review that is done already the outcome has
        nothing to execute. Raises ReviewNotFound, and GateClosed where the gate is closed meanwhile.
        """
        try:
            with self._listener.watch(review_id) as event:
                while True:
                    self._listener.check_open()
                    try:
                        outcome, seconds = await self._claims.poll(review_id)
                        if outcome is not None:
                            return outcome
                    except StoreUnavailable:
                        seconds = 1.0
                    except StoreError:
                        self._listener.check_open()  # it was closed with the gate
                        raise
                    await wait_for_event(event, seconds)
        except asyncio.CancelledError:
            task = asyncio.create_task(self._claims.stop_waiting(review_id))
            self._cleanup_tasks.add(task)
            task.add_done_callback(self._cleanup_tasks.discard)
            raise

    async def outcomes(self) -> AsyncGenerator[Outcome, None]:
        """Every review of this agent that is ready and that no living process waits for, for ever.

        Serve it in workers, and after a restart: what a dead process left behind comes here as well.
        """
        with self._listener.watch(None) as event:
            while True:
                self._listener.check_open()
                seconds = POLL_INTERVAL
                try:
                    for review_id in await self._store.ready_reviews(self.agent, limit=1000):
                        try:
                            if await self._claims.has_waiter(review_id):
                                seconds = self._heartbeat_ttl / 3
                            elif (outcome := await self._claims.claim(review_id)) is not None:
                                yield outcome
                        except (StoreError, ReviewNotFound) as error:  # must not hold up the others
                            log.warning("review %s can't be taken up: %s", review_id, error)
                except StoreUnavailable:
                    seconds = 1.0
                except StoreError:
                    self._listener.check_open()
                    raise
                await wait_for_event(event, seconds)

    async def cancel(self, review_id: str, reason: str | None = None) -> None:
        """Withdraw a review that nobody needs to decide any more: the run was stopped, the user went on.

        Its cards say so, with the reason; whoever waits for it gets an outcome with nothing to execute.
        Raises Refused where a process has it already, ReviewNotFound, StoreUnavailable.
        """
        self._listener.check_not_closed()
        await self.reviews.cancel(review_id, None, reason, f"cancel:{uuid4().hex}")

    async def withdraw(self, review_id: str, reason: str | None = None) -> Outcome:
        """Cancel a review that still waits for people, and take it up here: no other process comes between.

        Raises Refused("busy") where all of it is decided by now, and what `cancel` and `wait` raise.
        """

        def apply(review: Review, now: float) -> Transition:
            if review.status != "pending" and review.cancelled is None:
                raise Refused("busy", f"All of the review {review.id} is decided: its run goes on.")
            transition = state_machine.cancel(review, None, reason, now)
            cancelled_review = transition.review.model_copy(update={"waiter": self.process})
            return transition._replace(review=cancelled_review)

        self._listener.check_not_closed()
        with self._listener.watch(review_id):
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
        """`@gate.guard`, `@gate.guard(name="send_email")`, `gate.guard(mailer.send)`: calling the function
        asks, runs it with what was decided, and returns its result.

        The tool's name is the function's, or `name`. The arguments, defaults included, are plain JSON, and
        come as JSON has them: a tuple as a list, an Enum as its value. A sync function runs in a thread.
        Where a person answered in its place, or says after a crash that it ran, that text is returned.

        Calls belong to the `thread` in which they are made: a script that runs again finds there what was
        decided, while what is done is asked anew. Outside of one a call is not found again.

        Raises TypeError at once for a function that can't be reviewed: a method without its object, `*args`,
        a generator. The call raises Rejected where it must not run, in the words that a model would be told;
        InvalidToolCall for an argument that is no JSON; LeaseLost and StoreUnavailable where it may have run:
        asked again in the same thread, it is then in doubt, and a person says.
        """
        if function is None:
            return partial(self.guard, name=name)
        return guard_function(self, function, name)

    def thread(
        self, thread_id: str, requester: str | None = None, origin: Place | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """`with gate.thread("t-42"):` the guarded calls in this block belong to this thread."""
        return thread_scope(thread_id, requester, origin)

    @property
    def _claims(self) -> Claims:
        return Claims(self.reviews, self._listener, self.process, self._lease)

    async def _judge(
        self,
        calls: Iterable[ToolCall] | JudgedCalls,
        context: Mapping[str, Any] | None,
        tools: Mapping[str, JsonObject | None] | None,
        path: Iterable[str],
    ) -> JudgedCalls:
        self._listener.check_not_closed()
        if isinstance(calls, JudgedCalls):
            return judging.check_calls(calls)
        policy = self.policy.for_run(context) if context is not None else self.policy
        return await judging.judge_calls(policy, calls, tools=tools, path=path)

    async def _build_review(
        self,
        judged_calls: JudgedCalls,
        thread_id: str,
        requester: str | None,
        turn: str | None,
        origin: Place | None,
    ) -> tuple[Review, Event]:
        review_key = ReviewKey(self.agent, thread_id, turn or "", requester, origin)
        judging.check_review_key(review_key)
        judging.check_redaction(judged_calls)
        await self._policy_recorder.record(self.agent, self.policy)
        if turn is None:
            review_key = await find_next_turn(
                self.reviews, review_key, [call.id for call in judged_calls.calls]
            )
        now = await self.reviews.with_retry(self._store.now)
        return judging.build_review(review_key, judged_calls, self._store.partitions, now)

    async def _store_new(self, review: Review, event: Event) -> None:
        await failpoint("gate.before_submit")
        await self.reviews.submit(review, event)
        await failpoint("gate.after_submit")
