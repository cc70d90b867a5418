"""The tasks that wait for reviews, and the listener that wakes them."""

from __future__ import annotations

import asyncio

from hitl_core.gate.waiting import Watchers


async def test_who_is_woken_sends_before_the_next_read() -> None:
    """Given a task that waits for a review; when the listener hears of it, then the task's first command is
    sent before the listener reads again."""
    watchers, order = Watchers(), list[str]()
    hints = [["review-1"]]

    async def receive() -> list[str]:
        order.append("read")
        return hints.pop() if hints else await asyncio.Event().wait() and []

    async def send() -> None:
        order.append("sent")

    async def wait() -> None:
        with watchers.watch("review-1") as event:
            listening = asyncio.create_task(watchers.listen(receive))
            await event.wait()
            await asyncio.create_task(send())  # as the store does: see `Batches`
            listening.cancel()

    async with asyncio.timeout(30):
        await wait()

    assert order[:2] == ["read", "sent"]
