"""The store in memory, for tests and benchmarks."""

from hitl_core.store.memory.store import MemoryStore

__all__ = ["MemoryStore"]
