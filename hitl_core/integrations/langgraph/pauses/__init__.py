"""The pauses of a run: reads them from the thread's saved state, turns their questions into calls to review,
and writes the answers in the agent's format.
"""

from hitl_core.integrations.langgraph.pauses.asking_calls import read_asking_calls
from hitl_core.integrations.langgraph.pauses.calls_around import OpenCalls
from hitl_core.integrations.langgraph.pauses.model_turn import BatchPause, PerCallPause
from hitl_core.integrations.langgraph.pauses.nested import KnownGraphs, SavedStates, add_tool_agents
from hitl_core.integrations.langgraph.pauses.pause import QuestionPause
from hitl_core.integrations.langgraph.pauses.read_pauses import (
    AnyPause,
    Pauses,
    read_pauses,
)
from hitl_core.integrations.langgraph.pauses.task_states import (
    answered_interrupts,
    has_failed,
    is_stalled,
    is_unfinished,
    open_interrupts,
    saved_questions,
)

__all__ = [
    "AnyPause",
    "BatchPause",
    "KnownGraphs",
    "OpenCalls",
    "Pauses",
    "PerCallPause",
    "QuestionPause",
    "SavedStates",
    "add_tool_agents",
    "answered_interrupts",
    "has_failed",
    "is_stalled",
    "is_unfinished",
    "open_interrupts",
    "read_asking_calls",
    "read_pauses",
    "saved_questions",
]
