"""When a review whose run raised is tried again."""

from __future__ import annotations

import asyncio

from hitl_core.gate import Outcome


class Retries:
    """How often the run of each review has raised in this process."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}

    def has_failed(self, outcome: Outcome) -> bool:
        return outcome.review_id in self._failures

    def forget(self, outcome: Outcome) -> None:
        """Its review is done."""
        self._failures.pop(outcome.review_id, None)

    def release_later(self, outcome: Outcome) -> None:
        """Release the review now, or after 2, 4, 8, … 64 seconds. Then `serve` of any process tries again."""
        times = self._failures.get(outcome.review_id, 0)
        self._failures[outcome.review_id] = times + 1
        pause = min(2.0**times, 64.0) if times else 0.0
        asyncio.get_running_loop().call_later(pause, outcome.release)
