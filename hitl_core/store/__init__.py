"""The durable truth: one contract (`base`), two that keep it (`memory`, `redis`)."""

from hitl_core.store.base import Hint, Store, Write
from hitl_core.store.memory import MemoryStore
from hitl_core.store.redis import RedisStore

__all__ = ["Hint", "MemoryStore", "RedisStore", "Store", "Write"]
