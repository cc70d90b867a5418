"""From wherever a run stands to its next stop, with what was decided."""

from __future__ import annotations

import logging

from langgraph.types import Command, StateSnapshot
from pydantic import ValidationError

from hitl_core.errors import IntegrationError
from hitl_core.failpoints import failpoint
from hitl_core.integrations.langgraph.graph import Json
from hitl_core.integrations.langgraph.holding import Held
from hitl_core.integrations.langgraph.model_turn import Batch, PerCall
from hitl_core.integrations.langgraph.pauses import Pause, read_pauses, unfinished
from hitl_core.integrations.langgraph.question import Question
from hitl_core.integrations.langgraph.thread import Thread

log = logging.getLogger(__name__)


class NodeFailed(IntegrationError):
    """A node that acts on its answer itself raised. LangGraph keeps the answer; nothing is retried."""


async def resume(thread: Thread, state: StateSnapshot, held: Held) -> StateSnapshot:
    """Go on where a crash left the run, and answer what of its pause still waits there.

    Raises NodeFailed, LeaseLost, IntegrationError for an agent that was changed in between, and what the
    agent raises.
    """
    if unfinished(state):
        state = await thread.invoke(None, state)
    match read_pauses(state).of(held.outcome.turn):
        case None:
            return state
        case Question() as pause:
            return await _hand_over(thread, state, pause, held)
        case PerCall() as pause:
            return await _answer_each(thread, state, pause, held)
        case Batch() as pause:
            return await _answer_or_cure(thread, state, pause, held)


async def _answer(thread: Thread, state: StateSnapshot, pause: Pause, held: Held) -> StateSnapshot:
    return await _give(thread, state, pause, pause.answer(held.outcome), held)


async def _give(
    thread: Thread, state: StateSnapshot, pause: Pause, answer: Json, held: Held
) -> StateSnapshot:
    state = await thread.invoke(Command(resume=answer), state)
    again = read_pauses(state).of(held.outcome.turn)
    if again is None or (isinstance(again, PerCall) and again.is_less_than(pause)):
        return state
    raise IntegrationError(
        f"The agent interrupts again for the turn of {held.outcome.review_id}: list one"
        " HumanInTheLoopMiddleware only."
    )


async def _answer_each(
    thread: Thread, state: StateSnapshot, pause: PerCall, held: Held
) -> StateSnapshot:
    """One call after the other, each time the first that still waits by the saved state: so it doesn't
    matter which process gave the answers before."""
    while True:
        try:
            state = await _answer(thread, state, pause, held)
        except ValidationError as error:
            if not (fields := _unfit(error)):
                raise
            state = await _refuse_edit(thread, state, pause, held, fields)
        again = read_pauses(state).of(held.outcome.turn)
        if not isinstance(again, PerCall):
            return state
        pause = again
        await failpoint("langgraph.between_answers")


def _unfit(error: ValidationError) -> list[str]:
    """The fields of an edit that LangGraph refused before it saved it: it checks by the tool's own types,
    which may be narrower than the schema by which people edited."""
    where = [detail["loc"] for detail in error.errors()]
    return sorted({str(loc[-1]) for loc in where if "edited_action" in loc})


async def _refuse_edit(
    thread: Thread, state: StateSnapshot, pause: PerCall, held: Held, fields: list[str]
) -> StateSnapshot:
    why = f"the edited arguments don't fit the tool ({', '.join(fields)})."
    answer = pause.answer(held.outcome, refused=f"It was not executed: {why}")
    state = await _give(thread, state, pause, answer, held)
    held.lines[pause.next_id] = f"failed: not executed: {why}"
    return state


async def _answer_or_cure(
    thread: Thread, state: StateSnapshot, pause: Batch, held: Held
) -> StateSnapshot:
    try:
        return await _answer(thread, state, pause, held)
    except Exception:
        again = read_pauses(await thread.look()).of(held.outcome.turn)
        if not isinstance(again, Batch) or not again.failed:
            raise
        return await _cure(thread, held)


async def _cure(thread: Thread, held: Held) -> StateSnapshot:
    """LangChain saved an answer that it refuses: drop it, let it ask again, and answer that.

    Happens when a `when` predicate says something else than before, or somebody answered by hand.
    """
    log.warning("LangChain refuses the answer that is saved for %s.", held.outcome.review_id)
    state = await thread.forget_answer()
    pause = read_pauses(state).of(held.outcome.turn)
    return state if pause is None else await _answer(thread, state, pause, held)


async def _hand_over(
    thread: Thread, state: StateSnapshot, pause: Question, held: Held
) -> StateSnapshot:
    """The node itself acts on the answer, so what stands in front of a tool stands here."""
    outcome, answer = held.outcome, pause.answer(held.outcome)
    for call in outcome.execute:
        await outcome.once(call)
    handed = {call.id: "handed to the agent" for call in outcome.execute}
    try:
        state = await _give(thread, state, pause, answer, held)
    except Exception as error:
        if read_pauses(await thread.look()).of(outcome.turn) is None:
            await outcome.report(handed)  # the node is through; something after it raised
            raise
        kind = type(error).__name__
        held.lines.update(dict.fromkeys(handed, f"failed: {kind}"))
        raise NodeFailed(
            f"The node raised {kind} after it had its answer, which LangGraph keeps: ainvoke(None)"
            " runs it again."
        ) from error
    held.lines.update(handed)
    return state
