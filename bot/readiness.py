"""Whether this bot can do its work: what `/readyz` asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from bot.health import Health, Problem
from bot.web import Probe
from hitl_core.errors import HitlError
from hitl_core.store import Store

#: How far this machine's clock may be off Redis's, in seconds. Slack's requests are refused from 300 on, as
#: they would be replays (docs.slack.dev/authentication/verifying-requests-from-slack).
MAX_SKEW = 120.0


def readiness(
    store: Store,
    checks: Sequence[Callable[[], None]],
    health: Health,
    clock: Callable[[], float] = time.time,
) -> Probe:
    """Redis answers, each of the checks is through, and this machine's clock is about right. What `health`
    knows of is listed and makes no bot unready: another bot of the same Slack would do no better.
    """

    async def ready() -> dict[str, object]:
        skew = clock() - await store.now()
        if abs(skew) > MAX_SKEW:
            ahead = "ahead of" if skew > 0 else "behind"
            raise HitlError(
                f"This machine's clock is {abs(skew):.0f} s {ahead} Redis's. Slack's requests look forged"
                " where it is 300 s off: set the clocks."
            )
        for check in checks:
            check()
        problems = [_shown(problem) for problem in health.current()]
        return {"undelivered": await store.buried(), "problems": problems}

    return ready


def _shown(problem: Problem) -> dict[str, object]:
    """`since` is in seconds since the epoch."""
    return {
        "kind": problem.kind,
        "subject": problem.subject,
        "text": problem.text,
        "since": round(problem.since),
        "count": problem.count,
    }
