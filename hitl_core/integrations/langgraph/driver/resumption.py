"""Resumes a run with the decisions: from any saved state to its next stop."""

from __future__ import annotations

import logging

from langgraph.types import Command, StateSnapshot
from pydantic import ValidationError

from hitl_core.errors import HitlError, IntegrationError
from hitl_core.failpoints import failpoint
from hitl_core.integrations.langgraph.driver.loaded_state import ThreadMoved
from hitl_core.integrations.langgraph.driver.thread import GraphThread
from hitl_core.integrations.langgraph.graph import Json
from hitl_core.integrations.langgraph.guard import ActiveRun, QuestionChanged
from hitl_core.integrations.langgraph.pauses import (
    AnyPause,
    BatchPause,
    PerCallPause,
    QuestionPause,
    is_unfinished,
    read_pauses,
)
from hitl_core.review import CallResult

log = logging.getLogger(__name__)


class NodeFailed(IntegrationError):
    """A node raised after it got the answer to its own question, and LangGraph keeps that answer; or the node
    accepts no answer that means what people said. The driver does not try again.
    """


async def resume(thread: GraphThread, state: StateSnapshot, active_run: ActiveRun) -> StateSnapshot:
    """Continue the run from its saved state, and answer its waiting interrupts.

    Raises NodeFailed, LeaseLost, IntegrationError if the agent's code was changed meanwhile, and any error of
    the agent.
    """
    if is_unfinished(state):
        state = await thread.invoke(None, state)
    match read_pauses(state).find(active_run.outcome.turn):
        case None:
            return state
        case QuestionPause() as pause:
            return await _answer_question(thread, state, pause, active_run)
        case PerCallPause() as pause:
            return await _answer_each(thread, state, pause, active_run)
        case BatchPause() as pause:
            return await _answer_or_recover(thread, state, pause, active_run)


async def _answer_pause(
    thread: GraphThread, state: StateSnapshot, pause: AnyPause, active_run: ActiveRun
) -> StateSnapshot:
    return await _send_answer(
        thread, state, pause, pause.resume_value(active_run.outcome), active_run
    )


async def _send_answer(
    thread: GraphThread, state: StateSnapshot, pause: AnyPause, answer: Json, active_run: ActiveRun
) -> StateSnapshot:
    state = await thread.invoke(Command(resume=answer), state)
    again = read_pauses(state).find(active_run.outcome.turn)
    if again is None or (isinstance(again, PerCallPause) and again.has_fewer_than(pause)):
        return state
    raise IntegrationError(
        f"The agent interrupts again for the turn of {active_run.outcome.review_id}. Give it only one"
        " HumanInTheLoopMiddleware, and each AI message an id of its own: the id of this turn's message is"
        f" {active_run.outcome.turn!r:.80}."
    )


async def _answer_each(
    thread: GraphThread, state: StateSnapshot, pause: PerCallPause, active_run: ActiveRun
) -> StateSnapshot:
    """Answer one call after the other, always the first one that waits in the saved state. So it doesn't
    matter which process gave the earlier answers.
    """
    while True:
        try:
            state = await _answer_pause(thread, state, pause, active_run)
        except ValidationError as error:
            if not (fields := _unfit_fields(error)):
                raise
            state = await _refuse_edit(thread, state, pause, active_run, fields)
        again = read_pauses(state).find(active_run.outcome.turn)
        if not isinstance(again, PerCallPause):
            return state
        pause = again
        await failpoint("langgraph.between_answers")


def _unfit_fields(error: ValidationError) -> list[str]:
    """The fields of an edit that LangGraph refused, before it saved the answer. LangGraph checks the tool's
    Python types, which may be stricter than the schema for people's edits.
    """
    where = [detail["loc"] for detail in error.errors()]
    return sorted({str(loc[-1]) for loc in where if "edited_action" in loc})


async def _refuse_edit(
    thread: GraphThread,
    state: StateSnapshot,
    pause: PerCallPause,
    active_run: ActiveRun,
    fields: list[str],
) -> StateSnapshot:
    why = f"the edited arguments don't fit the tool ({', '.join(fields)})."
    answer = pause.resume_value(active_run.outcome, refusal=f"It was not executed: {why}")
    state = await _send_answer(thread, state, pause, answer, active_run)
    active_run.results[pause.next_call_id] = CallResult.failure(f"not executed: {why}")
    return state


async def _answer_or_recover(
    thread: GraphThread, state: StateSnapshot, pause: BatchPause, active_run: ActiveRun
) -> StateSnapshot:
    try:
        return await _answer_pause(thread, state, pause, active_run)
    except Exception:
        again = read_pauses(await thread.load_state()).find(active_run.outcome.turn)
        if not isinstance(again, BatchPause) or not again.failed:
            raise
        return await _recover(thread, active_run)


async def _recover(thread: GraphThread, active_run: ActiveRun) -> StateSnapshot:
    """Recover when LangChain saved an answer that it then refuses: drop the answer, let LangChain ask again,
    and answer again.

    This happens if a `when` predicate gives another result than before, or if somebody resumed the thread by
    hand.
    """
    log.warning("LangChain refuses the answer that is saved for %s.", active_run.outcome.review_id)
    state = await thread.forget_answer()
    pause = read_pauses(state).find(active_run.outcome.turn)
    return state if pause is None else await _answer_pause(thread, state, pause, active_run)


async def _answer_question(
    thread: GraphThread, state: StateSnapshot, pause: QuestionPause, active_run: ActiveRun
) -> StateSnapshot:
    """Answer a question of a node. The node itself acts on the answer, so the check that the guard makes
    before a call runs is made here.
    """
    outcome = active_run.outcome
    try:
        answer = pause.resume_value(outcome)
    except IntegrationError as error:
        raise NodeFailed(str(error)) from error
    thread.check_lock()  # after it, a lost lock would leave the answer in doubt
    handed = dict.fromkeys(await outcome.hand_over(), CallResult.note("handed to the agent"))
    try:
        state = await _send_answer(thread, state, pause, answer, active_run)
    except ThreadMoved:
        note = CallResult.note("not executed: another run of its thread began")
        await outcome.report(dict.fromkeys(handed, note))
        raise
    except QuestionChanged:
        note = CallResult.note(
            "not executed: the question changed between the pause and the resume"
        )
        active_run.results.update(dict.fromkeys(handed, note))
        raise
    except Exception as error:
        again = read_pauses(await thread.load_state()).find(outcome.turn)
        if again is None:
            await outcome.report(handed)  # the node ended; something after it raised
            raise
        if not again.failed:  # the checkpointer raised: it is not known how far the node got
            raise
        kind = type(error).__name__
        active_run.results.update(dict.fromkeys(handed, CallResult.note(f"failed: {kind}")))
        why = f" {error}" if isinstance(error, HitlError) else ""
        raise NodeFailed(
            f"The node raised {kind} after it got its answer.{why} LangGraph keeps that answer:"
            " ainvoke(None) runs the node again."
        ) from error
    active_run.results.update(handed)
    return state
