"""The agent's side: submit tool calls, wait for the decisions, run what was approved.

`Gate` submits and waits; an `Outcome` says what runs. The module `blocking` is the same API for code without
an event loop.
"""

from hitl_core.gate import blocking
from hitl_core.gate.gate import Gate
from hitl_core.gate.outcome import (
    AGAIN,
    Answer,
    Outcome,
    already_started_answer,
    answers,
    denial_text,
    is_cancelled,
)
from hitl_core.gate.submission import (
    MAX_CALLS,
    FrozenCalls,
    JudgedCalls,
    PolicyRecorder,
    ReviewKey,
    SchemaChecks,
    ToolSchemas,
    build_review,
    check_redaction,
    check_review_key,
    find_review,
    find_schema_flaw,
    freeze_calls,
    judge_calls,
    open_turn,
    read_origin,
    requester_of,
)
from hitl_core.gate.waiting import Watchers

__all__ = [
    "AGAIN",
    "MAX_CALLS",
    "Answer",
    "FrozenCalls",
    "Gate",
    "JudgedCalls",
    "Outcome",
    "PolicyRecorder",
    "ReviewKey",
    "SchemaChecks",
    "ToolSchemas",
    "Watchers",
    "already_started_answer",
    "answers",
    "blocking",
    "build_review",
    "check_redaction",
    "check_review_key",
    "denial_text",
    "find_review",
    "find_schema_flaw",
    "freeze_calls",
    "is_cancelled",
    "judge_calls",
    "open_turn",
    "read_origin",
    "requester_of",
]
