"""What the chat keeps for one person: drafts of forms, and who opened the home page."""

from __future__ import annotations

from typing import Protocol


class UiState(Protocol):
    """Everything here ends by itself."""

    async def save_draft(self, key: str, data: bytes, ttl: float) -> None:
        """Save what a person has typed so far, for `ttl` seconds. Anyone who knows the key can read it."""
        ...

    async def draft(self, key: str) -> bytes | None: ...

    async def drop_draft(self, key: str) -> None: ...

    async def record_home_view(self, user: str, now: float) -> None:
        """Record that this person has just opened the app's home page. Deleted after an hour."""
        ...

    async def home_viewers(self, since: float) -> list[str]:
        """The people who opened the home page at `since` or later, the latest first."""
        ...
