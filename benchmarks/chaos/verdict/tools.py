"""Did tools run twice, unapproved, with other arguments, or never? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.chaos.journal import Entry
from benchmarks.chaos.plan import STRANGER
from benchmarks.chaos.verdict.decisions import describe
from benchmarks.chaos.verdict.evidence import Evidence, is_at_rest


def _runs(seen: Evidence) -> Mapping[str, list[Entry]]:
    runs: dict[str, list[Entry]] = {}
    for entry in seen.tools:
        runs.setdefault(entry["review"], []).append(entry)
    return runs


def tools_twice(seen: Evidence) -> Iterator[str]:
    """A person who orders the second run is asked first: it may then happen twice."""
    ordered = {press["review"] for press in seen.presses if press["verb"] == "rerun"}
    for id, runs in _runs(seen).items():
        if len(runs) > 1 and id not in ordered:
            yield f"{id} ran {len(runs)} times"


def tools_unapproved(seen: Evidence) -> Iterator[str]:
    for id in _runs(seen):
        review = seen.reviews.get(id)
        decision = review.actions[0].decision if review else None
        if decision is None or decision.type not in ("approve", "edit"):
            yield f"{id} ran: {describe(review.actions[0]) if review else 'there is no such review'}"
            continue
        agreed = {
            press["user"]
            for press in seen.presses
            if press["review"] == id and press["verb"] in ("approve", "edit")
        }
        if decision.by is None or decision.by.id not in agreed - {STRANGER}:
            yield f"{id} ran, and {decision.by} never pressed"


def tools_other_arguments(seen: Evidence) -> Iterator[str]:
    edited = {press["review"] for press in seen.presses if press["verb"] == "edit"}
    numbers = {entry["review"]: entry["number"] for entry in seen.submits}
    for id, runs in _runs(seen).items():
        item, review = seen.items[numbers[id]] if id in numbers else None, seen.reviews.get(id)
        for run in runs:
            known = (
                [item.arguments, *([item.edited_arguments] if id in edited else [])] if item else []
            )
            decided = review.arguments("1").parse() if review else None
            if (item and run["args"] not in known) or (review and run["args"] != decided):
                yield f"{id} ran with {run['args']}, decided was {decided}"


def never_run(seen: Evidence) -> Iterator[str]:
    runs = _runs(seen)
    for id, review in seen.reviews.items():
        decision, run = review.actions[0].decision, review.runs.get("1")
        skipped = run is not None and run.state == "skipped"
        if decision and decision.type in ("approve", "edit") and id not in runs and not skipped:
            yield f"{id} is {review.status}: {describe(review.actions[0])}, {run}"
        elif not is_at_rest(review):
            yield f"{id} is stuck: {review.status}, {run}"
