"""Where reviews are stored: one contract (`Store`), implemented by `RedisStore` and `MemoryStore`.

`MemoryStore` is imported when it is first used: only tests use it.
"""

from typing import TYPE_CHECKING, Any

from hitl_core.store.contract import (
    MAX_DECIDED,
    MAX_DIGEST,
    OPEN_FOR,
    AgentHint,
    DeadLetter,
    Digest,
    HistoryCheck,
    Job,
    LaneFailure,
    LaneHalf,
    LiveReview,
    Recheck,
    RejectedCall,
    Store,
    ThreadReview,
    ThreadState,
    WaitingPage,
    Write,
    alone_mark,
    change_temporary_value,
    digest_at,
    lane_failure,
    lane_of,
    note_lane_failure,
)
from hitl_core.store.redis import (
    REDIS_SCHEMES,
    Keys,
    RedisStore,
    StartWarning,
    choose_partition,
    hash_of,
    make_review_id,
    parse_partition,
    parse_redis_url,
    read_wait_replicas,
)

if TYPE_CHECKING:
    from hitl_core.store.memory import MemoryStore

__all__ = [
    "MAX_DECIDED",
    "MAX_DIGEST",
    "OPEN_FOR",
    "REDIS_SCHEMES",
    "AgentHint",
    "DeadLetter",
    "Digest",
    "HistoryCheck",
    "Job",
    "Keys",
    "LaneFailure",
    "LaneHalf",
    "LiveReview",
    "MemoryStore",
    "Recheck",
    "RedisStore",
    "RejectedCall",
    "StartWarning",
    "Store",
    "ThreadReview",
    "ThreadState",
    "WaitingPage",
    "Write",
    "alone_mark",
    "change_temporary_value",
    "choose_partition",
    "digest_at",
    "hash_of",
    "lane_failure",
    "lane_of",
    "make_review_id",
    "note_lane_failure",
    "parse_partition",
    "parse_redis_url",
    "read_wait_replicas",
]


def __getattr__(name: str) -> Any:
    if name != "MemoryStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hitl_core.store.memory import MemoryStore

    return MemoryStore
