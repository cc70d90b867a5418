"""How fast the product was under these faults. The verdict does not depend on these figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import quantiles

from benchmarks.chaos.plan import HTTP_AGENT, agent_name
from benchmarks.chaos.verdict.evidence import Evidence
from benchmarks.chaos.verdict.timers import timer_times


def figures(seen: Evidence) -> Iterator[str]:
    acks = [
        press["seconds"] for press in seen.presses if press["status"] == 200 and "seconds" in press
    ]
    yield _line("click to acknowledgement", acks)
    yield _line("click to the agent's tool", _resume_times(seen, over_http=False))
    yield _line("the same over HTTP", _resume_times(seen, over_http=True))
    late = [
        at - review.created_at - after
        for review in seen.reviews.values()
        for _, after, at in timer_times(review.actions[0])
        if at is not None
    ]
    yield _line("timers late", late)
    yield "memory: " + ", ".join(f"{name} {size:.0f} MB" for name, size in seen.memory.items())
    failed = sum(press["status"] != 200 for press in seen.presses)
    yield f"{len(seen.presses)} presses, {failed} failed visibly; {len(seen.tools)} tools ran"


def _resume_times(seen: Evidence, *, over_http: bool) -> list[float]:
    """Seconds from the last press of the person who decided to the tool's run, for agents over HTTP or for
    those in Python.
    """
    sent = {
        (press["review"], press["user"]): press["at"] - press["seconds"]
        for press in seen.presses
        if press["status"] == 200 and "seconds" in press
    }
    times: list[float] = []
    for run in seen.tools:
        if (agent_name(run["process"]) == HTTP_AGENT) is not over_http:
            continue
        review = seen.reviews.get(run["review"])
        decision = review.actions[0].decision if review else None
        if decision and decision.by and (began := sent.get((run["review"], decision.by.id))):
            times.append(run["at"] - began)
    return times


def _line(name: str, seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return f"{name}: {len(seconds)} times"
    parts = quantiles(seconds, n=100, method="inclusive")
    return (
        f"{name}: p50 {parts[49] * 1000:.0f} ms, p99 {parts[98] * 1000:.0f} ms, of {len(seconds)}"
    )
