"""What a paused run asks: its pauses, read from the thread's saved state, as calls to review; and the answers
to them, in the words of the agent.
"""

from hitl_core.integrations.langgraph.pauses.answers import CantRefuse
from hitl_core.integrations.langgraph.pauses.asking_calls import read_asking_calls
from hitl_core.integrations.langgraph.pauses.calls_around import OpenCalls
from hitl_core.integrations.langgraph.pauses.model_turn import BatchPause, PerCallPause
from hitl_core.integrations.langgraph.pauses.nested import SavedStates, add_tool_agents, find_reader
from hitl_core.integrations.langgraph.pauses.pause import QuestionPause
from hitl_core.integrations.langgraph.pauses.pauses import (
    AnyPause,
    Pauses,
    is_stalled,
    is_unfinished,
    open_interrupts,
    read_pauses,
    tasks_with_answers,
)

__all__ = [
    "AnyPause",
    "BatchPause",
    "CantRefuse",
    "OpenCalls",
    "Pauses",
    "PerCallPause",
    "QuestionPause",
    "SavedStates",
    "add_tool_agents",
    "find_reader",
    "is_stalled",
    "is_unfinished",
    "open_interrupts",
    "read_asking_calls",
    "read_pauses",
    "tasks_with_answers",
]
