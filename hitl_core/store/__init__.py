"""Where reviews are stored: one contract (`contract.Store`) with two implementations, Redis and memory.

Public: `Store`, `RedisStore`, `MemoryStore` (for tests), and the values `Write`, `Job` and `Recheck`.
"""

from hitl_core.store.contract import Job, Recheck, Store, Write
from hitl_core.store.memory.store import MemoryStore
from hitl_core.store.redis.store import RedisStore

__all__ = ["Job", "MemoryStore", "Recheck", "RedisStore", "Store", "Write"]
