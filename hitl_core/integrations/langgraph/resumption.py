"""From wherever a run stands to its next stop, with what was decided."""

from __future__ import annotations

import logging
from typing import Any

from langgraph.types import Command, StateSnapshot

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph.batch import Batch
from hitl_core.integrations.langgraph.holding import Held
from hitl_core.integrations.langgraph.inbox import Inbox
from hitl_core.integrations.langgraph.pauses import Pause, read_pauses, unfinished
from hitl_core.integrations.langgraph.thread import Thread

log = logging.getLogger(__name__)


class NodeFailed(IntegrationError):
    """A node that acts on its answer itself raised. LangGraph keeps the answer; nothing is retried."""


async def resume(thread: Thread, state: StateSnapshot, held: Held) -> StateSnapshot:
    """Go on where a crash left the run, and answer its pause where it still waits there.

    Raises NodeFailed, LeaseLost, IntegrationError for an agent that was changed in between, and what the
    agent raises.
    """
    outcome = held.outcome
    if unfinished(state):
        state = await thread.invoke(None)
    pause = read_pauses(state).of(outcome.turn)
    if pause is None:
        return state
    if isinstance(pause, Inbox):
        return await _hand_over(thread, pause, held)
    try:
        return await _answer(thread, pause, held)
    except Exception:
        again = read_pauses(await thread.look()).of(outcome.turn)
        if not isinstance(again, Batch) or not again.poisoned:
            raise
        return await _cure(thread, held)


async def _answer(thread: Thread, pause: Pause, held: Held) -> StateSnapshot:
    answer: Command[Any] = Command(resume={pause.interrupt_id: pause.answer(held.outcome)})
    state = await thread.invoke(answer)
    if read_pauses(state).of(held.outcome.turn):
        raise IntegrationError(
            f"The agent interrupts again for the turn of {held.outcome.review_id}: list one"
            " HumanInTheLoopMiddleware only."
        )
    return state


async def _cure(thread: Thread, held: Held) -> StateSnapshot:
    """LangChain saved an answer that it refuses: drop it, let it ask again, and answer that.

    Happens when a `when` predicate says something else than before, or somebody answered by hand.
    """
    log.warning("LangChain refuses the answer that is saved for %s.", held.outcome.review_id)
    state = await thread.forget_answer()
    pause = read_pauses(state).of(held.outcome.turn)
    return state if pause is None else await _answer(thread, pause, held)


async def _hand_over(thread: Thread, pause: Inbox, held: Held) -> StateSnapshot:
    """The node itself acts on the answer, so what stands in front of a tool stands here."""
    outcome = held.outcome
    for call in outcome.execute:
        await outcome.once(call)
    handed = {call.id: "handed to the agent" for call in outcome.execute}
    try:
        state = await _answer(thread, pause, held)
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
