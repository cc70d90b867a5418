"""What bots and agents work through, in Redis: cards in lanes and digests, dead letters, hints of news."""

from hitl_core.store.redis.queues.dead_letters import RedisDeadLetters
from hitl_core.store.redis.queues.digests import RedisDigests
from hitl_core.store.redis.queues.hints import RedisHints
from hitl_core.store.redis.queues.lanes import RedisLanes

__all__ = ["RedisDeadLetters", "RedisDigests", "RedisHints", "RedisLanes"]
