"""Held reviews: the store lost writes, so people and agents may have seen a newer state than what is stored.
A person releases them. Pure.
"""

from __future__ import annotations

from hitl_core.errors import HitlError, Refused
from hitl_core.model import STARTED_MARK, Action, Event, Review, Reviewer, Run, Snapshot
from hitl_core.review.runs import claims
from hitl_core.review.transition import (
    SnapshotFunction,
    Transition,
    has_started,
    make_event,
    with_actions,
)
from hitl_core.sentences import join_names

HELD_TEXT = (
    "This is held: the store lost data, so what it has of this may be out of date. Nothing can be decided,"
    " and nothing runs, until an operator releases it with “hitl reviews release”."
)


def ran_mark(key: str) -> str:
    """The mark that an agent sets on a held review if it has started this call: the stored review may not
    know that.
    """
    return STARTED_MARK + key


def unrecorded_starts(snapshot: Snapshot) -> tuple[str, ...]:
    """The keys of the calls that an agent has started, but that are not started in the stored review."""
    review = snapshot.review
    keys = (call.key for call in review.calls if ran_mark(call.key) in snapshot.marks)
    return tuple(key for key in keys if not has_started(review, key))


def release(snapshot: Snapshot, by: Reviewer) -> Transition:
    """The review continues as it is stored. Its clocks move later by the time for which it was held. People
    are asked about the calls that an agent has started: so this must be computed from the snapshot that the
    write is compared with, not from one that a person read earlier.
    """
    review, now = snapshot.review, snapshot.now
    runs = {
        key: Run(state="in_doubt", attempt=claims.last_attempt(review, key) + 1, at=now)
        for key in unrecorded_starts(snapshot)
    }
    after = review.model_copy(update={"runs": {**review.runs, **runs}})
    if snapshot.held_since is not None:
        after = _shift_clocks(after, snapshot.held_since, now)
    return Transition(after, make_event("released", review, now, runs, by=by))


def ends_hold(event: Event) -> bool:
    """Whether a held review continues after this event: it was released, or none of it can run any more."""
    return event.kind in ("released", "cancelled")


def apply_unless_held(apply: SnapshotFunction, snapshot: Snapshot) -> Transition:
    """Apply the transition. A held review accepts only three: its release, its cancellation, and a vote to
    cancel it, after which it is still held. All others raise Refused("held"). A cancellation raises
    Refused("started") if an agent says that it has started a call: the agent's answers would say that nothing
    ran.
    """
    if not snapshot.held:
        return apply(snapshot)
    try:
        changed = apply(snapshot)
    except HitlError:
        raise refuse_held() from None
    if changed.event.kind == "released":
        return changed
    if not ends_hold(changed.event) and changed.review.cancel_votes == snapshot.review.cancel_votes:
        raise refuse_held()
    if ahead := unrecorded_starts(snapshot):
        review = snapshot.review
        names = join_names(review.tool_name(call) for call in review.calls if call.key in ahead)
        raise Refused(
            "started",
            f"It can't be cancelled: its agent says that it has started {names}. Release it first: then"
            " people are asked what became of that.",
        )
    return changed


def check_not_held(snapshot: Snapshot) -> None:
    if snapshot.held:
        raise refuse_held()


def refuse_held() -> Refused:
    return Refused("held", HELD_TEXT)


def _shift_clocks(review: Review, since: float, now: float) -> Review:
    """The review with escalations and deadlines later by the time for which it was held. What was late when
    the hold began is still late.
    """
    if review.status != "pending":
        return review
    shifted = {a.key: _shift_clock(a, since, now) for a in review.actions if a.is_pending}
    return with_actions(review, shifted, now)


def _shift_clock(action: Action, since: float, now: float) -> Action:
    update = dict[str, float]()
    if (start := action.clock_start) is not None:
        name = "since" if action.route.clock == "submitted" else "delivered_at"
        update[name] = start + max(0.0, now - max(since, start))
    if action.until is not None:
        update["until"] = action.until + max(0.0, now - since)
    return action.model_copy(update=update)
