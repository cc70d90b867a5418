"""Tells operators about reviews: log lines as JSON, and traces.

Neither ever contains arguments, tokens or the names of people.
"""

from hitl_core.telemetry.json_log import JsonFormatter
from hitl_core.telemetry.review_threads import RecentThreads, recent_threads
from hitl_core.telemetry.tracing import (
    current_context,
    end_span,
    message_attributes,
    review_attributes,
    span,
    start_span,
    use_span,
)

__all__ = [
    "JsonFormatter",
    "RecentThreads",
    "current_context",
    "end_span",
    "message_attributes",
    "recent_threads",
    "review_attributes",
    "span",
    "start_span",
    "use_span",
]
