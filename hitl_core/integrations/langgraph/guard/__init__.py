"""Stops a tool that may not run: the guard around each tool node, and behind it the watch, which sees every
start of a tool.
"""

from hitl_core.integrations.langgraph.guard.active_runs import CLAIM, ActiveRun, ActiveRuns
from hitl_core.integrations.langgraph.guard.guard import ReviewGuard
from hitl_core.integrations.langgraph.guard.lost_pauses import PauseLost
from hitl_core.integrations.langgraph.guard.questions import QuestionChanged, Questions
from hitl_core.integrations.langgraph.guard.self_check import check_langgraph
from hitl_core.integrations.langgraph.guard.watch import Watch, hold_watch

__all__ = [
    "CLAIM",
    "ActiveRun",
    "ActiveRuns",
    "PauseLost",
    "QuestionChanged",
    "Questions",
    "ReviewGuard",
    "Watch",
    "check_langgraph",
    "hold_watch",
]
