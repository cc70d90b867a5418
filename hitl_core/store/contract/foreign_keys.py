"""Finds what another program wrote in place of the store's data."""

from __future__ import annotations

from typing import Protocol


class ForeignKeys(Protocol):
    async def foreign_keys(self, missing: set[int] | None = None) -> list[str]:
        """The names under which the store has a value of another type than it writes, so that writes fail:
        damaged, or another program's. Only names that every store has are checked.
        """
        ...
