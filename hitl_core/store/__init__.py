"""Where reviews are stored: one contract (`Store`), implemented by `RedisStore` and `MemoryStore`."""

from hitl_core.store.contract import (
    MAX_DECIDED,
    DeadLetter,
    HistoryCheck,
    Job,
    LaneHalf,
    LiveReview,
    Recheck,
    RejectedCall,
    Store,
    ThreadReview,
    Write,
)
from hitl_core.store.memory import MemoryStore
from hitl_core.store.redis import (
    REDIS_SCHEMES,
    Keys,
    RedisStore,
    StartWarning,
    choose_partition,
    digest_of,
    make_review_id,
    parse_partition,
    parse_redis_url,
    read_wait_replicas,
)

__all__ = [
    "MAX_DECIDED",
    "REDIS_SCHEMES",
    "DeadLetter",
    "HistoryCheck",
    "Job",
    "Keys",
    "LaneHalf",
    "LiveReview",
    "MemoryStore",
    "Recheck",
    "RedisStore",
    "RejectedCall",
    "StartWarning",
    "Store",
    "ThreadReview",
    "Write",
    "choose_partition",
    "digest_of",
    "make_review_id",
    "parse_partition",
    "parse_redis_url",
    "read_wait_replicas",
]
