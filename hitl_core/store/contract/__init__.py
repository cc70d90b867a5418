"""The contract of a store, in parts; `Store` combines them. A store compares versions and writes; it knows no
rules of reviews.
"""

from hitl_core.store.contract.audited_fields import delivery_event
from hitl_core.store.contract.dead_letters import DeadLetter
from hitl_core.store.contract.digests import (
    MAX_DIGEST,
    OPEN_FOR,
    Digest,
    alone_mark,
    digest_at,
    digest_mark,
    make_digest_id,
)
from hitl_core.store.contract.hints import MAX_HINT, AgentHint
from hitl_core.store.contract.history import HeldReview, HistoryCheck
from hitl_core.store.contract.jobs import (
    LATER,
    Backlog,
    Job,
    LaneHalf,
    Recheck,
    RedrawKind,
    format_member,
    head_start,
    lane_of,
    later_member,
    letter_member,
    parse_job,
)
from hitl_core.store.contract.key_values import (
    LaneFailure,
    change_temporary_value,
    lane_failure,
    note_lane_failure,
)
from hitl_core.store.contract.review_lists import (
    MAX_DECIDED,
    MAX_REJECTED,
    LiveReview,
    RejectedCall,
    ThreadReview,
    ThreadState,
    WaitingPage,
    Workload,
    is_decision_event,
)
from hitl_core.store.contract.reviews import MAX_AGE, Write
from hitl_core.store.contract.store import Store

__all__ = [
    "LATER",
    "MAX_AGE",
    "MAX_DECIDED",
    "MAX_DIGEST",
    "MAX_HINT",
    "MAX_REJECTED",
    "OPEN_FOR",
    "AgentHint",
    "Backlog",
    "DeadLetter",
    "Digest",
    "HeldReview",
    "HistoryCheck",
    "Job",
    "LaneFailure",
    "LaneHalf",
    "LiveReview",
    "Recheck",
    "RedrawKind",
    "RejectedCall",
    "Store",
    "ThreadReview",
    "ThreadState",
    "WaitingPage",
    "Workload",
    "Write",
    "alone_mark",
    "change_temporary_value",
    "delivery_event",
    "digest_at",
    "digest_mark",
    "format_member",
    "head_start",
    "is_decision_event",
    "lane_failure",
    "lane_of",
    "later_member",
    "letter_member",
    "make_digest_id",
    "note_lane_failure",
    "parse_job",
]
