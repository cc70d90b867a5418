"""Did tools run twice, unapproved, with other arguments, or never? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.chaos.journal import Entry
from benchmarks.chaos.names import names_of
from benchmarks.chaos.verdict.decisions import describe
from benchmarks.chaos.verdict.evidence import Evidence, action_of, is_at_rest


def _runs(seen: Evidence) -> Mapping[tuple[str, str], list[Entry]]:
    """By review and call."""
    runs: dict[tuple[str, str], list[Entry]] = {}
    for entry in seen.tools:
        runs.setdefault((entry["review"], entry["call"]), []).append(entry)
    return runs


def tools_twice(seen: Evidence) -> Iterator[str]:
    """A second run is no violation if a person ordered it: they were warned that it may happen twice."""
    ordered = {
        (press["review"], f"c{press['action']}")
        for press in seen.presses
        if press["verb"] == "rerun"
    }
    for (id, call), runs in _runs(seen).items():
        if len(runs) > 1 and (id, call) not in ordered:
            yield f"{call} of {id} ran {len(runs)} times"


def tools_unapproved(seen: Evidence) -> Iterator[str]:
    for id, call in _runs(seen):
        review = seen.reviews.get(id)
        if review is None:
            yield f"{id} ran: there is no such review"
            continue
        action = action_of(review, call)
        decision = action.decision
        if review.status == "pending" or decision is None:
            yield f"{call} of {id} ran: {review.status}, {describe(action)}"
        elif decision.type not in ("approve", "edit"):
            yield f"{call} of {id} ran: {describe(action)}"
        elif decision.by is None or decision.by.id not in _find_approvers(seen, id, action.key):
            yield f"{call} of {id} ran, and {decision.by} never pressed"


def _find_approvers(seen: Evidence, id: str, key: str) -> set[str]:
    return {
        press["user"]
        for press in seen.presses
        if press["review"] == id
        and press["verb"] in ("approve", "edit")
        and press.get("action", "1") == key
    } - {names_of(seen.plan.chat).stranger}


def tools_other_arguments(seen: Evidence) -> Iterator[str]:
    edited = {press["review"] for press in seen.presses if press["verb"] == "edit"}
    numbers = {entry["review"]: entry["number"] for entry in seen.submits}
    for (id, _), runs in _runs(seen).items():
        item, review = seen.items[numbers[id]] if id in numbers else None, seen.reviews.get(id)
        for run in runs:
            known = [call.args for call in item.calls if call.id == run["call"]] if item else []
            if item and id in edited:
                known.append(item.edited_arguments)
            decided = review.arguments(run["call"].removeprefix("c")).parse() if review else None
            if (item and run["args"] not in known) or (review and run["args"] != decided):
                yield f"{id} ran with {run['args']}, decided was {decided}"


def never_run(seen: Evidence) -> Iterator[str]:
    runs = _runs(seen)
    for id, review in seen.reviews.items():
        if not is_at_rest(review):
            yield f"{id} is stuck: {review.status}, {review.runs}"
            continue
        for action in review.actions if review.status == "done" else ():
            decision, run = action.decision, review.runs.get(action.key)
            skipped = run is not None and run.state == "skipped"
            approved = decision is not None and decision.type in ("approve", "edit")
            if approved and (id, f"c{action.key}") not in runs and not skipped:
                yield f"{id} is {review.status}: {describe(action)}, {run}"
