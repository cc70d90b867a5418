"""The durable truth: one contract (`base`), two that keep it (`memory`, `redis`)."""

from hitl_core.store.base import Check, Job, Store, Write
from hitl_core.store.memory import MemoryStore
from hitl_core.store.redis import RedisStore

__all__ = ["Check", "Job", "MemoryStore", "RedisStore", "Store", "Write"]
