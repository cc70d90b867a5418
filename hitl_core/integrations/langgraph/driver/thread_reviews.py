"""The reviews of a thread: pauses become reviews, and new input withdraws those that wait.

A withdrawn review is cancelled, and its calls get answers, because models reject a conversation with an
unanswered call.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeAlias, cast
from uuid import uuid4

from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.types import Command, PregelTask, StateSnapshot

from hitl_core.errors import HitlError, IntegrationError, InvalidToolCall, Refused
from hitl_core.gate import Answer, Gate, Outcome, ReviewKey, answers, find_review, read_origin
from hitl_core.integrations.langgraph.driver.thread import GraphThread
from hitl_core.integrations.langgraph.graph import (
    AgentTools,
    Json,
    answered_ids,
    last_ai_message,
    messages_of,
)
from hitl_core.integrations.langgraph.pauses import (
    AnyPause,
    OpenCalls,
    Pauses,
    has_failed,
    is_unfinished,
    read_asking_calls,
    read_pauses,
)
from hitl_core.model import Review
from hitl_core.review import end_stuck, record_problem

#: The reason on the cards and for the model.
WITHDRAWAL_REASON = "The user wrote something new."

Input: TypeAlias = Mapping[str, Any] | Command[Any]


class TurnReviewed(IntegrationError):
    """The decisions of the pause's review were used already."""

    def __init__(self, review_id: str) -> None:
        super().__init__(
            f"This turn was reviewed before ({review_id}), and its decisions count only once. To fork the"
            " thread, start before the model's turn."
        )


class ThreadReviews:
    """Submits, finds and withdraws the reviews of threads. `tools`: those of the driven agent."""

    def __init__(self, gate: Gate, tools: AgentTools) -> None:
        self._gate, self._tools = gate, tools

    async def live(self, thread_id: str) -> list[Review]:
        """The thread's reviews that are not done. The process that claims one drives the run."""
        live: list[Review] = []
        async for review_id in self._gate.reviews.live_ids(thread_id):
            review = (await self._gate.reviews.load(review_id)).review
            if review.status != "done" and review.agent == self._gate.agent:
                live.append(review)
        return live

    async def submit(self, thread: GraphThread, pause: AnyPause) -> str:
        """Submit a pause. Returns the id of its review, which is the same if the pause is submitted again.
        Raises what `Gate.submit` raises, and TurnReviewed.
        """
        policy, requester, origin = self._gate.policy, thread.requester, thread.origin
        load = partial(self._load_review, thread.id)
        asking = await read_asking_calls(pause.around, load, policy, self._tools)
        if not pause.guarded and asking is not None and asking.review is not None:
            # A question has the requester of its call, who may not answer the question either.
            requester, origin = asking.review.requester, asking.review.origin
        judged_calls = await pause.judge(
            thread.id, policy, self._tools, asking, read_origin(origin)
        )
        review_id = await self._gate.submit(
            judged_calls,
            thread_id=thread.id,
            requester=requester,
            turn=pause.turn,
            origin=origin,
        )
        stored = (await self._gate.reviews.load(review_id)).review
        if stored.status == "done":
            raise TurnReviewed(review_id)
        return review_id

    async def _submit_left(self, last_run: GraphThread, pause: AnyPause) -> list[str]:
        """Submit a pause of the last run: a crash may have left it. [] if new input simply replaces it:
        nobody can be asked about it, or its decisions were used, and the run did not go on.
        """
        try:
            return [await self.submit(last_run, pause)]
        except (TurnReviewed, InvalidToolCall, IntegrationError):
            return []

    async def record_problem(self, outcome: Outcome, error: BaseException) -> None:
        """Tell people that this review's run can't go on. Of a foreign error only its kind is told: its text
        may have a tool's arguments.
        """
        why = str(error) if isinstance(error, HitlError) else type(error).__name__
        fence, op = outcome.review.fence, f"stuck:{uuid4().hex}"
        with suppress(HitlError):
            # Recorded before, or the store is away: then it is seen elsewhere.
            await self._gate.reviews.change(
                outcome.review_id, op, lambda r, now: record_problem(r, fence, why, now)
            )

    async def _load_review(self, thread_id: str, calls: OpenCalls) -> Review | None:
        """The review of these calls; None if they have none."""
        if not calls.message.id:
            return None
        turn = ReviewKey(self._gate.agent, thread_id, calls.message.id, None)
        return await find_review(self._gate.reviews, turn, calls.ids)

    @asynccontextmanager
    async def hold_for_input(
        self, thread: GraphThread, state: StateSnapshot, live: Sequence[Review], input: Input
    ) -> AsyncGenerator[Input, None]:
        """The input in the form that the thread accepts now. The reviews that it withdraws are held
        meanwhile. Raises Refused if the thread is busy.
        """
        pauses, last_run = read_pauses(state), thread.as_in_last_run(state)
        # A run that always fails must not keep its thread. If it also waits, its turn is not whole yet.
        has_only_failed = has_failed(state) and not pauses.known
        is_replaced = not isinstance(input, Command) and (
            has_only_failed or not is_unfinished(state)
        )
        stuck = [review for review in live if is_replaced and _is_stuck(review, pauses)]
        live = [review for review in live if review not in stuck]
        driven = any(review.status == "claimed" for review in live)
        if state.tasks and not driven and _is_for_other_interrupts(input, pauses):
            yield input
            return
        if pauses.waiting and not driven:
            raise Refused(
                "paused", f"The thread {thread.id!r} waits at an interrupt that is not a review."
            )
        paused = bool(pauses.known) and not is_unfinished(state)
        if isinstance(input, Command) and paused:
            waits = await self.submit(last_run, pauses.known[0])
            raise Refused("paused", f"The thread {thread.id!r} waits for the review {waits}.")
        is_open = state.tasks and not paused and not is_replaced
        if is_open or any(review.status != "pending" for review in live):
            why = "run(None) continues it"
            if live:
                why = f"its review {live[0].id} is still open, and serve() continues it"
            raise Refused("busy", f"The last run of {thread.id!r} has not ended: {why}.")
        # A crash may have left pauses that were not submitted. Submit them, or another process could now.
        left = [await self._submit_left(last_run, pause) for pause in pauses.known]
        ids = [*itertools.chain(*left), *(review.id for review in live)]
        ended = [answer for review in stuck for answer in await self._end_stuck(review)]
        async with hold_withdrawal(self._gate, dict.fromkeys(ids)) as outcomes:
            known = [*ended, *(answer for outcome in outcomes for answer in outcome.answers)]
            yield input if isinstance(input, Command) else add_answers(input, state, known)

    async def _end_stuck(self, review: Review) -> Sequence[Answer]:
        """End a decided review whose run raises at each try. Returns what became of its calls. Raises Refused
        ("busy") if that is not known.
        """
        process, op = self._gate.process, f"end:{uuid4().hex}"
        await self._gate.reviews.change(
            review.id, op, lambda r, now: end_stuck(r, process, WITHDRAWAL_REASON, now)
        )
        return answers(review)


def _is_stuck(review: Review, pauses: Pauses) -> bool:
    """Whether the run got this review's decisions, and each try to go on with it raised."""
    decided = review.status != "pending" and review.agent_problem is not None
    return decided and pauses.find(review.turn) is None


def _is_for_other_interrupts(input: Input, pauses: Pauses) -> bool:
    """Whether the input only answers interrupts that are not ours. If one of ours waits too, the input must
    name the ids.
    """
    if not isinstance(input, Command) or not pauses.known:
        return isinstance(input, Command)
    resume: object = input.resume
    answers = cast(Json, resume) if isinstance(resume, dict) else {}
    return bool(answers) and set(answers) <= {interrupt.id for interrupt in pauses.unknown}


@asynccontextmanager
async def hold_withdrawal(
    gate: Gate, review_ids: Iterable[str]
) -> AsyncGenerator[list[Outcome], None]:
    """Cancel and claim these reviews while the new input is saved. After that they are done. If saving fails,
    a process in `serve` continues the run when their lease ends, as after a crash. Raises Refused if one of
    them is already decided.
    """
    async with AsyncExitStack() as stack:
        outcomes: list[Outcome] = []
        for review_id in review_ids:
            outcomes.append(outcome := await gate.withdraw(review_id, WITHDRAWAL_REASON))
            stack.callback(outcome.release)
        yield outcomes
        for outcome in outcomes:
            await outcome.finish()


def add_answers(
    input: Mapping[str, Any], state: StateSnapshot, known: Iterable[Answer]
) -> Mapping[str, Any]:
    """The new input, with an answer to each unanswered call of the last AI message before it. The result of a
    call that ran is kept; LangGraph itself would drop it. `known`: answers of reviews. Pure.
    """
    missing = list(_missing_answers(state, known))
    if not missing:
        return input
    new = input.get("messages", [])
    messages = cast(list[Any], new) if isinstance(new, list) else [new]
    return {**input, "messages": [*missing, *messages]}


def _missing_answers(state: StateSnapshot, known: Iterable[Answer]) -> Iterator[ToolMessage]:
    messages = messages_of(state.values)
    message = last_ai_message(messages)
    answered = answered_ids(messages)
    results = {m.tool_call_id: m for task in state.tasks for m in _results(task)}
    by_id = {answer.tool_call_id: answer for answer in known}
    for call in message.tool_calls if message else ():
        id, name = str(call["id"]), call["name"]
        if id in results:
            yield results[id]
        elif id not in answered:
            stop_text = f"`{name}` was stopped before it ended. {WITHDRAWAL_REASON}"
            answer = by_id.get(id) or Answer(id, name, stop_text, "error")
            yield ToolMessage(answer.content, name=name, tool_call_id=id, status=answer.status)


def _results(task: PregelTask) -> Iterator[ToolMessage]:
    """The results of tools that ended while other tools of the same turn wait."""
    result: Any = task.result
    messages: Iterable[AnyMessage] = messages_of(cast(Json, result))
    yield from (message for message in messages if isinstance(message, ToolMessage))
