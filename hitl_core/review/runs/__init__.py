"""The agent's part: it claims a review, starts its calls once, reports results, and finishes."""

from hitl_core.review.runs import claims
from hitl_core.review.runs.agent_problems import agent_problem_of, end_stuck, record_problem
from hitl_core.review.runs.claims import runnable_calls
from hitl_core.review.runs.leases import ends_late, seconds_left
from hitl_core.review.runs.results import (
    PAUSED,
    CallResult,
    one_line,
    text_of,
)
from hitl_core.review.runs.started_calls import started_calls_of

__all__ = [
    "PAUSED",
    "CallResult",
    "agent_problem_of",
    "claims",
    "end_stuck",
    "ends_late",
    "one_line",
    "record_problem",
    "runnable_calls",
    "seconds_left",
    "started_calls_of",
    "text_of",
]
