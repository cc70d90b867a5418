"""What an agent does with the decisions: run each approved call once, report it, answer the model."""

from hitl_core.gate.outcome import tool_runs
from hitl_core.gate.outcome.answers import AGAIN, Answer, answers, denial_text, is_cancelled
from hitl_core.gate.outcome.outcome import Outcome
from hitl_core.gate.outcome.tool import Tool, failure_line, run_tool, success_line

__all__ = [
    "AGAIN",
    "Answer",
    "Outcome",
    "Tool",
    "answers",
    "denial_text",
    "failure_line",
    "is_cancelled",
    "run_tool",
    "success_line",
    "tool_runs",
]
