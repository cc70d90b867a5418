"""The reviews of a thread: pauses become reviews, and new input withdraws those that wait."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, cast

from langgraph.types import Command, StateSnapshot

from hitl_core.errors import IntegrationError, Refused
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph.graph import AgentTools, Json
from hitl_core.integrations.langgraph.pauses import AnyPause, Pauses, is_unfinished, read_pauses
from hitl_core.integrations.langgraph.thread import GraphThread
from hitl_core.integrations.langgraph.withdraw import add_answers, hold_withdrawal
from hitl_core.model import Review

Input: TypeAlias = Mapping[str, Any] | Command[Any]


class ThreadReviews:
    """`tools` are those of the driven agent."""

    def __init__(self, gate: Gate, tools: AgentTools) -> None:
        self._gate, self._tools = gate, tools

    async def live(self, thread_id: str) -> list[Review]:
        """The thread's reviews that are not done. The process that claims one drives the run."""
        live: list[Review] = []
        for review_id in await self._gate.reviews.store.thread_reviews(thread_id):
            review = (await self._gate.reviews.load(review_id)).review
            if review.status == "done":  # live ones come first
                break
            if review.agent == self._gate.agent:
                live.append(review)
        return live

    async def submit(self, thread: GraphThread, pause: AnyPause) -> str:
        """The id of the pause's review; a second time it is the same one. Raises what `Gate.submit` raises,
        and IntegrationError if its decisions were used already.
        """
        judged_calls = await pause.judge(thread.id, self._gate.policy, self._tools)
        review_id = await self._gate.submit(
            judged_calls,
            thread_id=thread.id,
            requester=thread.requester,
            turn=pause.turn,
            origin=thread.origin,
        )
        stored = (await self._gate.reviews.load(review_id)).review
        if stored.status == "done":
            raise IntegrationError(
                f"This turn was reviewed before ({review_id}), and its decisions count only once. To"
                " fork the thread, start before the model's turn."
            )
        return review_id

    @asynccontextmanager
    async def hold_for_input(
        self, thread: GraphThread, state: StateSnapshot, live: Sequence[Review], input: Input
    ) -> AsyncGenerator[Input, None]:
        """The input in the form that the thread accepts now. Raises Refused if the thread is busy."""
        pauses = read_pauses(state)
        driven = any(review.status == "claimed" for review in live)
        if state.tasks and not driven and _is_for_other_interrupts(input, pauses):
            yield input
            return
        if pauses.unknown and not driven:
            raise Refused(
                "paused", f"The thread {thread.id!r} waits at an interrupt that is not a review."
            )
        paused = bool(pauses.known) and not is_unfinished(state)
        if isinstance(input, Command) and paused:
            waits = await self.submit(thread, pauses.known[0])
            raise Refused("paused", f"The thread {thread.id!r} waits for the review {waits}.")
        if (state.tasks and not paused) or any(review.status != "pending" for review in live):
            why = f"its review {live[0].id} is still open" if live else "run(None) continues it"
            raise Refused("busy", f"The last run of {thread.id!r} has not ended: {why}.")
        # A crash may have left pauses that were not submitted. Submit them, or another process could now.
        ids = [await self.submit(thread, pause) for pause in pauses.known]
        ids.extend(review.id for review in live)
        async with hold_withdrawal(self._gate, dict.fromkeys(ids)) as outcomes:
            command = isinstance(input, Command)
            yield input if command else add_answers(input, state, outcomes)


def _is_for_other_interrupts(input: Input, pauses: Pauses) -> bool:
    """Whether it only answers interrupts that are not ours. If one of ours waits too, the input must
    name the ids.
    """
    if not isinstance(input, Command) or not pauses.known:
        return isinstance(input, Command)
    resume: object = input.resume
    answers = cast(Json, resume) if isinstance(resume, dict) else {}
    return bool(answers) and set(answers) <= {interrupt.id for interrupt in pauses.unknown}
