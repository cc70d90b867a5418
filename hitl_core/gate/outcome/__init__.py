"""What an agent does with the decisions: run each approved call once, report it, answer the model."""

from hitl_core.gate.outcome.answers import AGAIN, Answer, answers, denial_text, is_cancelled
from hitl_core.gate.outcome.outcome import Outcome
from hitl_core.gate.outcome.tool import (
    Tool,
    ToolFunctions,
    already_started_answer,
    failure_answer,
    failure_result,
    order_answers,
    run_tool,
    success_answer,
    success_result,
    tools_for,
)

__all__ = [
    "AGAIN",
    "Answer",
    "Outcome",
    "Tool",
    "ToolFunctions",
    "already_started_answer",
    "answers",
    "denial_text",
    "failure_answer",
    "failure_result",
    "is_cancelled",
    "order_answers",
    "run_tool",
    "success_answer",
    "success_result",
    "tools_for",
]
