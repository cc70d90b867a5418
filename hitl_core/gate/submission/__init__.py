"""Tool calls → a review: check them, judge them by the policy, and give the review an id that is the same
when the turn is submitted again.
"""

from hitl_core.gate.submission.calls import (
    MAX_CALLS,
    FrozenCalls,
    JudgedCalls,
    check_redaction,
    freeze_calls,
    judge_calls,
)
from hitl_core.gate.submission.inputs import check_cancel_reason, check_review_key, check_seconds
from hitl_core.gate.submission.new_review import build_review, requester_of
from hitl_core.gate.submission.review_key import ReviewKey, find_review, open_turn, read_origin
from hitl_core.gate.submission.schemas import SchemaChecks, ToolSchemas, find_schema_flaw
from hitl_core.gate.submission.submitter import PolicyRecorder, SubmitOptions, Submitter

__all__ = [
    "MAX_CALLS",
    "FrozenCalls",
    "JudgedCalls",
    "PolicyRecorder",
    "ReviewKey",
    "SchemaChecks",
    "SubmitOptions",
    "Submitter",
    "ToolSchemas",
    "build_review",
    "check_cancel_reason",
    "check_redaction",
    "check_review_key",
    "check_seconds",
    "find_review",
    "find_schema_flaw",
    "freeze_calls",
    "judge_calls",
    "open_turn",
    "read_origin",
    "requester_of",
]
