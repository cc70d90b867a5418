"""The store in Redis: rules in Python, atomicity in the Lua scripts beside it."""

from hitl_core.store.redis.connection import REDIS_SCHEMES, StartWarning, parse_redis_url
from hitl_core.store.redis.keys import (
    Keys,
    choose_partition,
    hash_of,
    make_review_id,
    parse_partition,
)
from hitl_core.store.redis.store import RedisStore, read_wait_replicas

__all__ = [
    "REDIS_SCHEMES",
    "Keys",
    "RedisStore",
    "StartWarning",
    "choose_partition",
    "hash_of",
    "make_review_id",
    "parse_partition",
    "parse_redis_url",
    "read_wait_replicas",
]
