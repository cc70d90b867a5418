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
from hitl_core.gate import request
from hitl_core.gate.claims import Claims
from hitl_core.gate.guard import Guard, P, R, guarded, in_thread
from hitl_core.gate.hub import ALIVE, LOOK, Hub
from hitl_core.gate.outcome import Outcome
from hitl_core.gate.policies import PolicyNotes
from hitl_core.gate.request import Request, Turn
from hitl_core.gate.turns import next_turn
from hitl_core.gate.watchers import woken_within
from hitl_core.model import Event, Place, Review, ToolCall
from hitl_core.model.arguments import JsonObject
from hitl_core.policy import Policy
from hitl_core.review import transitions
from hitl_core.review.service import Reviews
from hitl_core.review.transitions import Changed
from hitl_core.store import RedisStore, Store

log = logging.getLogger(__name__)

#: How long a claim holds after its process's last sign of life, in seconds.
LEASE = 30.0


def _policy(given: object) -> Policy:
    """Raises PolicyError for a file that is none, TypeError for anything else."""
    if isinstance(given, str | Path):
        return Policy.load(given)
    if not isinstance(given, Policy):
        raise TypeError(
            f"`policy` is a Policy, or the path of its file, not {type(given).__name__}."
        )
    return given


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
        alive: float = ALIVE,
    ) -> None:
        self.policy, self.agent = _policy(policy), agent
        self.process = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self.reviews = Reviews(store, patience=10.0)
        self._notes = PolicyNotes(self.reviews)
        self._store, self._lease, self._alive = store, lease, alive
        self._leaving: set[asyncio.Task[None]] = set()
        self._hub = Hub(store, agent, self.process, alive)

    @classmethod
    @contextlib.asynccontextmanager
    async def connect(
        cls,
        url: str,
        *,
        policy: Policy | str | Path,
        agent: str,
        lease: float = LEASE,
        alive: float = ALIVE,
        partitions: int | None = None,
    ) -> AsyncGenerator[Self, None]:
        """Raises PolicyError for a file that is no policy, SettingsError for a Redis that would lose reviews,
        StoreUnavailable where none answers.
        """
        policy = _policy(policy)
        store = await RedisStore.open(url, partitions=partitions)
        try:
            async with cls(store, policy=policy, agent=agent, lease=lease, alive=alive) as gate:
                yield gate
        finally:
            await store.close()

    async def __aenter__(self) -> Self:
        await self._hub.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._leaving:
            await asyncio.wait(self._leaving, timeout=2.0)
        await self._hub.stop()

    async def review(
        self,
        calls: Iterable[ToolCall] | Request,
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
        asked = await self._asked(calls, context, tools, path)
        review, event = await self._build(asked, thread_id, requester, turn, origin)
        # Watched before it is stored: else `settled` of this process could take it away.
        with self._hub.watch(review.id):
            await self._store_new(review.model_copy(update={"waiter": self.process}), event)
            return await self.wait(review.id)

    async def submit(
        self,
        calls: Iterable[ToolCall] | Request,
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
        asked = await self._asked(calls, context, tools, path)
        review, event = await self._build(asked, thread_id, requester, turn, origin)
        await self._store_new(review, event)
        return review.id

    async def wait(self, review_id: str) -> Outcome:
        """Wait until everything is decided and this process has the review. Holds no connection.

        Survives a store that is away for a while. Of a review that is done already the outcome has
        nothing to execute. Raises ReviewNotFound, and GateClosed where the gate is closed meanwhile.
        """
        try:
            with self._hub.watch(review_id) as woken:
                while True:
                    self._hub.check_open()
                    try:
                        outcome, seconds = await self._claims.take(review_id)
                        if outcome is not None:
                            return outcome
                    except StoreUnavailable:
                        seconds = 1.0
                    except StoreError:
                        self._hub.check_open()  # it was closed with the gate
                        raise
                    await woken_within(woken, seconds)
        except asyncio.CancelledError:
            leaving = asyncio.create_task(self._claims.leave(review_id))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            raise

    async def settled(self) -> AsyncGenerator[Outcome, None]:
        """Every review of this agent that is ready and that no living process waits for, for ever.

        Serve it in workers, and after a restart: what a dead process left behind comes here as well.
        """
        with self._hub.watch(None) as woken:
            while True:
                self._hub.check_open()
                seconds = LOOK
                try:
                    for review_id in await self._store.ready(self.agent, limit=1000):
                        try:
                            if await self._claims.is_waited_for(review_id):
                                seconds = self._alive / 3
                            elif (outcome := await self._claims.claim(review_id)) is not None:
                                yield outcome
                        except (StoreError, ReviewNotFound) as error:  # must not hold up the others
                            log.warning("review %s can't be taken up: %s", review_id, error)
                except StoreUnavailable:
                    seconds = 1.0
                except StoreError:
                    self._hub.check_open()
                    raise
                await woken_within(woken, seconds)

    async def cancel(self, review_id: str, reason: str | None = None) -> None:
        """Withdraw a review that nobody needs to decide any more: the run was stopped, the user went on.

        Its cards say so, with the reason; whoever waits for it gets an outcome with nothing to execute.
        Raises Refused where a process has it already, ReviewNotFound, StoreUnavailable.
        """
        self._hub.check_not_closed()
        await self.reviews.cancel(review_id, None, reason, f"cancel:{uuid4().hex}")

    async def withdraw(self, review_id: str, reason: str | None = None) -> Outcome:
        """Cancel a review that still waits for people, and take it up here: no other process comes between.

        Raises Refused("busy") where all of it is decided by now, and what `cancel` and `wait` raise.
        """

        def withdrawn(review: Review, now: float) -> Changed:
            if review.status != "pending" and review.cancelled is None:
                raise Refused("busy", f"All of the review {review.id} is decided: its run goes on.")
            changed = transitions.cancel(review, None, reason, now)
            kept = changed.review.model_copy(update={"waiter": self.process})
            return changed._replace(review=kept)

        self._hub.check_not_closed()
        with self._hub.watch(review_id):
            await self.reviews.change(review_id, f"withdraw:{uuid4().hex}", withdrawn)
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
    def guard(self, *, name: str | None = None) -> Guard: ...
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
        return guarded(self, function, name)

    def thread(
        self, thread_id: str, requester: str | None = None, origin: Place | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """`with gate.thread("t-42"):` the guarded calls in this block belong to this thread."""
        return in_thread(thread_id, requester, origin)

    @property
    def _claims(self) -> Claims:
        return Claims(self.reviews, self._hub, self.process, self._lease)

    async def _asked(
        self,
        calls: Iterable[ToolCall] | Request,
        context: Mapping[str, Any] | None,
        tools: Mapping[str, JsonObject | None] | None,
        path: Iterable[str],
    ) -> Request:
        self._hub.check_not_closed()
        if isinstance(calls, Request):
            return request.checked(calls)
        policy = self.policy.for_run(context) if context is not None else self.policy
        return await request.judged(policy, calls, tools=tools, path=path)

    async def _build(
        self,
        asked: Request,
        thread_id: str,
        requester: str | None,
        turn: str | None,
        origin: Place | None,
    ) -> tuple[Review, Event]:
        which = Turn(self.agent, thread_id, turn or "", requester, origin)
        request.check_turn(which)
        request.check_clear(asked)
        await self._notes.note(self.agent, self.policy)
        if turn is None:
            which = await next_turn(self.reviews, which, [call.id for call in asked.calls])
        now = await self.reviews.patiently(self._store.now)
        return request.build_from(which, asked, self._store.partitions, now)

    async def _store_new(self, review: Review, event: Event) -> None:
        await failpoint("gate.before_submit")
        await self.reviews.submit(review, event)
        await failpoint("gate.after_submit")
