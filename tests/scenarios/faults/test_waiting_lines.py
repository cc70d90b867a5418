"""Lines in threads that wait because the channel limits posts."""

from __future__ import annotations

import pytest

from bot.outbox import thread_sync
from tests.support.bots import POLICY, Scene, email
from tests.support.waiting import wait_until

ESCALATES = POLICY.replace(
    "  send_email:\n", "  send_email:\n    escalate: [{after: 1s, to: 'slack:#team-ops'}]\n"
)


async def test_a_line_that_waits_for_long_is_a_problem(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a Slack that takes no posts in a channel, and a line about an escalation there; then operators
    are told while it waits: its card is shown, so nothing else says so. It comes when Slack takes posts."""
    monkeypatch.setattr(thread_sync, "REPORT_AFTER", 0.0)
    gate = await scene.gate(ESCALATES)
    bot = await scene.bot()
    scene.ask(gate, email())
    await scene.card("send_email")
    await scene.all_shown()
    await scene.actor.inject_fault("ratelimited", method="chat.postMessage", retry_after=3)

    def is_told() -> bool:
        return any("Lines below cards" in one.text for one in bot.health.current_problems())

    await wait_until("somebody is told", is_told)
    await scene.actor.inject_fault("ok")
    await wait_until("it is over", lambda: not is_told())
