"""The order in which connections are closed when there is no room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

#: The number of ranks.
RANKS = 4


class Ranked(Protocol):
    @property
    def rank(self) -> int:
        """From 0, which is closed first, to RANKS - 1."""
        ...


R = TypeVar("R", bound=Ranked)


class EvictionOrder(Generic[R]):
    """By rank; in each rank, the one that has it for the longest time is first. A change takes as long for
    many members as for few.
    """

    def __init__(self) -> None:
        self._by_rank = tuple(OrderedDict[R, None]() for _ in range(RANKS))
        self._ranks: dict[R, int] = {}

    def __len__(self) -> int:
        return len(self._ranks)

    def __iter__(self) -> Iterator[R]:
        for members in self._by_rank:
            yield from members

    def add(self, member: R) -> None:
        self._ranks[member] = member.rank
        self._by_rank[member.rank][member] = None

    def remove(self, member: R) -> None:
        if (rank := self._ranks.pop(member, None)) is not None:
            del self._by_rank[rank][member]

    def update(self, member: R) -> None:
        """Its rank may have changed: it is now the last of its rank."""
        if member in self._ranks:
            self.remove(member)
            self.add(member)
