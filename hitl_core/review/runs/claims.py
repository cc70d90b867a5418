"""The agent's part of the state machine: claim, start, report, finish; after a crash. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hitl_core.errors import Refused
from hitl_core.model import (
    Call,
    DoubtAnswer,
    Lease,
    Place,
    Review,
    Reviewer,
    Reviewers,
    Run,
    Vote,
)
from hitl_core.review import vote_count
from hitl_core.review.runs.leases import check_lease, ends_late, extend_lease
from hitl_core.review.runs.results import CallResult
from hitl_core.review.transition import Transition, check_seal, has_started, make_event

_LONG_AGO = 1e10  # seconds: in the index, settled reviews come before the end of any lease


def set_waiting_process(review: Review, process: str | None, now: float) -> Transition:
    """Reserve the result for a process that waits, for as long as its heartbeat is alive. None: no process
    waits.
    """
    return Transition(
        review.model_copy(update={"waiting_process": process}), make_event("awaited", review, now)
    )


def claim(review: Review, holder: str, now: float, lease: float) -> Transition:
    """Give the review to one process, for `lease` seconds. If the lease of another process ended, that claim
    is ended first. After a claim the review is not reserved for a waiting process any more: if the holder
    gives it up, any process may claim it.

    If this leaves a call in doubt, the result is the review without a claim, because a person must answer.
    Raises Refused if the review is not settled, or if another process holds it.
    """
    if review.status == "claimed" and review.lease and review.lease.until <= now:
        expiry = expire_lease(review, now)
        if expiry.review.calls_in_doubt:
            return expiry
        review = expiry.review
    if review.status != "settled" or review.calls_in_doubt:
        raise Refused("not_ready", f"This review can't be claimed: it is {review.status}.")
    fence = review.fence + 1
    new_lease = Lease(holder=holder, fence=fence, until=now + lease, seconds=lease)
    update = {"status": "claimed", "lease": new_lease, "fence": fence, "waiting_process": None}
    return Transition(review.model_copy(update=update), make_event("claimed", review, now))


def renew(review: Review, fence: int, now: float, lease: float) -> Transition:
    renewed = extend_lease(check_lease(review, fence, now), now, lease)
    return Transition(
        review.model_copy(update={"lease": renewed}), make_event("renewed", review, now)
    )


def start(review: Review, fence: int, key: str, now: float) -> Transition:
    """Start one call. Raises Refused if it was started before: its side effect may have happened."""
    check_lease(review, fence, now)
    if has_started(review, key):
        raise Refused("already_started", "This call was already started.")
    run = review.runs.get(key)
    new_run = Run(
        state="started",
        attempt=last_attempt(review, key) + 1,
        at=now,
        rerun_by=run.answered_by if run else None,
    )
    event = make_event("started", review, now, [key])
    return Transition(_with_runs(review, {key: new_run}), event)


def last_attempt(review: Review, key: str) -> int:
    """How often this call was started, as far as the review knows."""
    return review.runs[key].attempt if key in review.runs else 0


def is_started(review: Review, fence: int, key: str, now: float) -> bool:
    """Whether the call is started and not finished. Raises LeaseLost if this claim is no longer valid."""
    check_lease(review, fence, now)
    run = review.runs.get(key)
    return run is not None and run.state == "started"


def report(review: Review, fence: int, results: Mapping[str, object], now: float) -> Transition:
    """Store the results of calls that ran, by key: see `CallResult.of`."""
    check_lease(review, fence, now)
    runs = {
        key: CallResult.of(result).to_run(review, review.runs.get(key), now)
        for key, result in results.items()
    }
    return Transition(_with_runs(review, runs), make_event("reported", review, now, runs))


def finish(review: Review, fence: int, results: Mapping[str, object], now: float) -> Transition:
    """The agent has finished this review. Raises Refused if a call was started and has no result: nobody
    knows whether it ran, and a person is asked when the lease ends. A call that people ordered to run again,
    and that was not started, is recorded as skipped.
    """
    reported = report(review, fence, results, now).review
    skipped = dict[str, Run]()
    for call in review.calls:
        run = reported.runs.get(call.key)
        if run is not None and run.state == "started":
            raise Refused(
                "no_result",
                f"The call {call.tool_call_id!r} was started and has no result. Give its result, also if it"
                " failed. If you don't know whether it ran, a person is asked when the lease ends.",
            )
        if run is not None and run.state == "cleared":
            skipped[call.key] = Run(
                state="skipped", attempt=run.attempt, at=now, rerun_by=run.answered_by
            )
    reported = _with_runs(reported, skipped)
    update = {"status": "done", "lease": None, "done_at": now, "agent_problem": None}
    return Transition(reported.model_copy(update=update), make_event("done", review, now))


def expire_lease(review: Review, now: float) -> Transition:
    """The lease ended before `finish`. Started calls are in doubt now; idempotent ones may start again.

    A lease that ends late, see `ends_late`, ends as one that is given now: its holder may still count on it.
    """
    if review.lease is not None and ends_late(review, now):
        return renew(review, review.lease.fence, now, review.lease.seconds)
    if review.status != "claimed" or review.lease is None or review.lease.until > now:
        raise Refused("not_due", "The lease has not ended.")
    idempotent = {call.key for call in review.calls if call.idempotent}
    runs = {
        key: run.model_copy(update={"state": "cleared"})
        if key in idempotent
        else run.model_copy(update={"state": "in_doubt", "at": now})
        for key, run in review.runs.items()
        if run.state == "started"
    }
    update = {"status": "settled", "lease": None}
    return Transition(
        _with_runs(review, runs).model_copy(update=update), make_event("lapsed", review, now)
    )


def resolve(
    review: Review,
    key: str,
    answer: DoubtAnswer,
    by: Reviewer,
    now: float,
    *,
    attempt: int | None = None,
    ineligible_voters: Collection[str] = (),
    place: Place | None = None,
    seal: str | None = None,
) -> Transition:
    """A person answers about a call in doubt: it ran, run it again, or skip it.

    "It ran" and "run it again" have the same rules as an approval of the call: the same quorum, and the same
    people are excluded. "Skip" has the rules of a rejection. If the policy allowed the call without a review,
    one person is enough. Votes about an earlier attempt don't count.

    `attempt` is the attempt on the person's card; None means that the person saw no card. An answer about an
    earlier attempt is refused. `ineligible_voters` are the keys of voters who may no longer decide. `seal`:
    see `check_decidable`.
    """
    run = review.runs.get(key)
    if run is None or run.state != "in_doubt":
        who = run.by.label if run and run.by else None
        message = f"{who} already answered this." if who else "There is no doubt about this call."
        raise Refused("already_decided", message)
    if attempt not in (None, run.attempt):
        raise Refused(
            "stale", "It was run again in the meantime, and stopped again. Look at the new card."
        )
    check_seal(review, seal, key)
    counted_votes, note = vote_count.drop_votes(run.votes, ineligible_voters)
    reviewers = Reviewers()
    if (action := review.action(key)) is not None:
        vote_count.check_not_excluded(review, action, answer, by)
        reviewers = action.route.reviewers
    vote = Vote(type=answer, by=by, at=now, revision=run.attempt)
    counted_votes, _, is_enough = vote_count.count_vote(counted_votes, vote, reviewers)
    update: dict[str, object] = {"votes": counted_votes}
    if is_enough:
        state = {"ran": "done", "rerun": "cleared", "skip": "skipped"}[answer]
        update |= {"state": state, "by": by, "at": now}
    after = _with_runs(review, {key: run.model_copy(update=update)})
    kind = "resolved" if is_enough else "voted"
    event = make_event(kind, review, now, [key], by=by, what=answer, why=note, place=place)
    return Transition(after, event)


def ready_at(review: Review) -> float | None:
    """From when a process of the agent may claim the review; None if it can't be claimed. For a settled
    review that is long ago, so that a clock that is set back delays no claim. The earliest settled is first.
    """
    if review.status == "claimed" and review.lease:
        return review.lease.until
    is_free = review.status == "settled" and not review.calls_in_doubt
    return review.settled_at - _LONG_AGO if is_free and review.settled_at is not None else None


def runnable_calls(review: Review) -> tuple[Call, ...]:
    """The calls that may start now, in the model's order: allowed or approved, and not started yet."""
    return tuple(
        call for call in review.calls if can_run(review, call) and not has_started(review, call.key)
    )


def actionable_calls(review: Review) -> tuple[Call, ...]:
    """`runnable_calls`, and those that were answered in a person's own words: for an agent whose own code
    acts on the answers."""
    return tuple(
        call
        for call in review.calls
        if (can_run(review, call) or _is_answered(review, call))
        and not has_started(review, call.key)
    )


def _is_answered(review: Review, call: Call) -> bool:
    action = review.action(call.key)
    decision = action.decision if action and review.cancelled is None else None
    return decision is not None and decision.type == "respond"


def can_run(review: Review, call: Call) -> bool:
    """Whether the policy allows this call, or people approved it. False if the review is cancelled."""
    if review.cancelled is not None:
        return False
    if call.verdict.kind == "allow":
        return True
    action = review.action(call.key)
    decision = action.decision if action else None
    return decision is not None and decision.type in ("approve", "edit")


def _with_runs(review: Review, runs: Mapping[str, Run]) -> Review:
    return review.model_copy(update={"runs": {**review.runs, **runs}})
