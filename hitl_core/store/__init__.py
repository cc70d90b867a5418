"""The durable truth: one contract (`base`), two that keep it (`memory`, `redis`)."""

from hitl_core.store.contract import Job, Recheck, Store, Write
from hitl_core.store.memory.store import MemoryStore
from hitl_core.store.redis.store import RedisStore

__all__ = ["Job", "MemoryStore", "Recheck", "RedisStore", "Store", "Write"]
