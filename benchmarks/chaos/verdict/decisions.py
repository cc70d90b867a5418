"""Were decisions lost, contradicted, or made twice? Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from benchmarks.chaos.journal import Entry
from benchmarks.chaos.names import names_of
from benchmarks.chaos.plan import Item
from benchmarks.chaos.verdict.evidence import Evidence, action_of
from hitl_core.model import Action, Review


def lost_submits(seen: Evidence) -> Iterator[str]:
    for entry in seen.submits:
        if entry["review"] not in seen.reviews:
            yield f"{entry['review']} was submitted"


def _find_acknowledged(seen: Evidence) -> Iterator[tuple[Entry, Item, Review, Action]]:
    """Presses that the bot accepted, so that the person believes they counted."""
    for press in seen.presses:
        review = seen.reviews.get(press["review"])
        if press["status"] == 200 and not press["notice"] and "number" in press and review:
            action = action_of(review, press.get("action", "1"))
            yield press, seen.items[press["number"]], review, action


def lost_decisions(seen: Evidence) -> Iterator[str]:
    audited = {
        (entry["review_id"], entry["by"]["id"], entry["kind"])
        for entry in seen.audit
        if entry.get("by")
    }
    for press, _, review, action in _find_acknowledged(seen):
        user, verb = press["user"], press["verb"]
        kinds = {
            (review.id, user, "voted"), (review.id, user, "edited"), (review.id, user, "decided"),
        }  # fmt: skip
        counts = [who.id for who in action.deciders] + [vote.by.id for vote in action.votes]
        edits = [edit.by.id for edit in action.edits]
        stored = kinds & audited and user in (edits if verb == "edit" else counts)
        if (
            verb in ("approve", "reject", "edit")
            and not stored
            and not _is_other_wins(press, action)
        ):
            yield f"{verb} of {user} on {review.id}: {describe(action)}"


def _is_other_wins(press: Entry, action: Action) -> bool:
    """Whether another decision won: then the press is not lost but contradicted."""
    decision = action.decision
    return decision is not None and decision.by is not None and decision.by.id != press["user"]


def contradicted_decisions(seen: Evidence) -> Iterator[str]:
    stranger = names_of(seen.plan.chat).stranger
    for press, item, review, action in _find_acknowledged(seen):
        user, verb, decision = press["user"], press["verb"], action.decision
        excluded = user == stranger or user == item.requester or verb == "stale"
        if excluded and verb in ("approve", "reject", "stale"):
            yield f"{verb} of {user} on {review.id} was not refused: {describe(action)}"
        elif decision is None or verb not in ("approve", "reject", "edit"):
            continue
        elif verb == "edit":
            if action.revision == 1:
                yield f"the edit of {user} on {review.id}: {describe(action)}"
        elif user not in {who.id for who in action.deciders} or decision.type not in (verb, "edit"):
            yield f"{verb} of {user} on {review.id}: {describe(action)}"


def double_decisions(seen: Evidence) -> Iterator[str]:
    ends = Counter(
        (entry["review_id"], entry.get("action"))
        for entry in seen.audit
        if entry["kind"] in ("decided", "expired", "cancelled")
    )
    for (id, _), count in ends.items():
        if count > 1:
            yield f"{id} has {count} decisions in the audit"


def broken_chains(seen: Evidence) -> Iterator[str]:
    if seen.audit_problem:
        yield seen.audit_problem


def broken_audit(seen: Evidence) -> Iterator[str]:
    numbers: Counter[str] = Counter()
    for entry in seen.audit:
        if (id := entry.get("review_id")) is not None:
            numbers[id] += 1
            if entry["n"] != numbers[id]:
                yield f"{id}: entry {entry['n']} is in place {numbers[id]}"


def describe(action: Action) -> str:
    decision = action.decision
    if decision is None:
        return f"pending, revision {action.revision}"
    return f"{decision.type} by {decision.by.id if decision.by else 'the deadline'}"
