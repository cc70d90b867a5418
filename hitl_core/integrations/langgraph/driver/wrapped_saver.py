"""The base of savers that add something to another saver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any, TypeAlias, cast

from langgraph.checkpoint.base import BaseCheckpointSaver

Saver: TypeAlias = BaseCheckpointSaver[Any]


class WrappedSaver(ABC):
    """All but what a subclass adds is the saver's own, whatever its class is, also with replaced methods."""

    def __init__(self, saver: Saver) -> None:
        self._saver = saver

    @abstractmethod
    def wrap(self, saver: Saver) -> WrappedSaver:
        """The same around another saver."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._saver, name)

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride] - for isinstance
        return self._saver.__class__

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Saver:
        """LangGraph's own copy of a saver, which limits the types that it loads."""
        return cast(Saver, self.wrap(self._saver.with_allowlist(extra_allowlist)))
