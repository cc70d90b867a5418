"""The queues in Redis: lanes and digests with cards to show, dead letters, and hints that wake processes."""

from hitl_core.store.redis.queues.dead_letters import RedisDeadLetters
from hitl_core.store.redis.queues.digests import RedisDigests
from hitl_core.store.redis.queues.hints import RedisHints
from hitl_core.store.redis.queues.lanes import RedisLanes

__all__ = ["RedisDeadLetters", "RedisDigests", "RedisHints", "RedisLanes"]
