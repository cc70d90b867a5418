"""Claims by a holder's name, for a protocol in which each request is independent. Pure.

A holder is `http:<token id>:<its own name>`. The same holder continues its claim, so each request can be
repeated. For all others the review is claimed until the lease ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from hitl_core.model import Call, Review, to_pointer
from hitl_core.review import CallResult, Transition, claims

from ..web import ApiProblem


def is_held_by(review: Review, holder: str, now: float) -> bool:
    """Whether this holder has the review, with a lease that has not ended."""
    lease = review.lease if review.status == "claimed" else None
    return lease is not None and lease.holder == holder and lease.until > now


def claim(review: Review, holder: str, now: float, lease: float) -> Transition:
    """Claim the review, or renew this holder's claim. Raises ApiProblem if it can't be claimed now.

    If the last holder died and left a call in doubt, the result is the review after the end of its lease,
    without a holder.
    """
    if is_held_by(review, holder, now):
        return _extend(review, review.fence, now, lease)
    check_claimable(review, now)
    return claims.claim(review, holder, now, lease)


def is_claimable(review: Review, now: float) -> bool:
    """Whether a new holder could claim the review. False if a lease has ended with a started call."""
    try:
        check_doubts(claim(review, "", now, 1.0).review)
    except ApiProblem:
        return False
    return True


def renew(review: Review, holder: str, now: float, lease: float) -> Transition:
    """Renew this holder's claim. It never makes a new claim."""
    if not is_held_by(review, holder, now):
        check_claimable(review, now)
        raise ApiProblem(
            "lease_lost", "This holder has no lease of this review, or the lease has ended."
        )
    return _extend(review, review.fence, now, lease)


def start(review: Review, fence: int, call: Call, now: float, lease: float) -> Transition:
    """Start one call, in the claim with this `fence`. Raises ApiProblem, LeaseLost, and
    Refused("already_started").
    """
    check_may_run(review, call)
    renewed = _extend(review, fence, now, lease).review
    return claims.start(renewed, fence, call.key, now)


def _extend(review: Review, fence: int, now: float, lease: float) -> Transition:
    """Extend the lease, but never to an earlier time: a call may run that was started with a longer lease."""
    before, renewed = review.lease, claims.renew(review, fence, now, lease)
    if before is None or before.until <= now + lease:
        return renewed
    return renewed._replace(review=renewed.review.model_copy(update={"lease": before}))


def finish_cancelled(transition: Transition, now: float) -> Transition:
    """In the same step, make a cancelled review done, because none of its calls can run."""
    claimed = claims.claim(transition.review, "http", now, 1.0).review
    return Transition(claims.finish(claimed, claimed.fence, {}, now).review, transition.event)


def check_claimable(review: Review, now: float) -> None:
    """Raises ApiProblem if nobody can claim this review now."""
    if review.status == "pending":
        raise _not_settled()
    if review.status == "done":
        if review.cancelled is not None:
            raise _cancelled()
        raise ApiProblem("done", "This review is done.")
    if review.lease is not None and review.lease.until > now:
        raise ApiProblem(
            "claimed_elsewhere",
            "Another holder has claimed this review. It is free again when that lease ends without `done`.",
        )
    check_doubts(review)


def check_doubts(review: Review) -> None:
    """Raises ApiProblem if people are asked whether a call ran."""
    if review.calls_in_doubt:
        names = ", ".join(repr(call.tool_call_id) for call in review.calls_in_doubt)
        raise ApiProblem(
            "in_doubt",
            f"It is not known whether {names} ran, because its holder stopped before `done`. A person is"
            " asked. Wait for the review.",
        )


def check_may_run(review: Review, call: Call) -> None:
    """Raises ApiProblem for a call that nobody approved and that the policy does not allow."""
    if review.cancelled is not None:
        raise _cancelled()
    if review.status == "pending":
        raise _not_settled()
    if not claims.can_run(review, call):
        raise ApiProblem(
            "not_allowed",
            f"The call {call.tool_call_id!r} must not run. `outcome.answers` has the tool message for the"
            " model.",
        )


def check_unchanged(
    review: Review, call: Call, name: str | None, args: Mapping[str, Any] | None
) -> None:
    """Raises ApiProblem if the agent is about to run another tool or other arguments than the decided ones.
    None: the agent did not send them.
    """
    decided = review.arguments(call.key).parse()
    if name not in (None, review.tool_name(call)) or not (
        args is None or _is_same_json(args, decided)
    ):
        raise ApiProblem(
            "args_changed",
            f"The tool or arguments of the call {call.tool_call_id!r} are not those that were decided, so it"
            " must not run. `outcome.execute` has the decided ones.",
        )


def new_results(review: Review, results: Mapping[str, str]) -> dict[str, CallResult]:
    """These results by call key, without those of calls that are already over. Raises ApiProblem for a call
    that is not in this review or must not run.
    """
    calls = {call.tool_call_id: call for call in review.calls}
    by_key: dict[str, CallResult] = {}
    for id, text in results.items():
        pointer = to_pointer(["results", id])
        if (call := calls.get(id)) is None:
            raise ApiProblem("no_such_call", "This review has no such call.", pointer=pointer)
        if not claims.can_run(review, call):
            detail = "This call must not run, so it has no result."
            raise ApiProblem("not_allowed", detail, pointer=pointer)
        run = review.runs.get(call.key)
        if run is None or run.state in ("started", "cleared"):
            by_key[call.key] = CallResult.of(text)
    return by_key


def check_complete(review: Review, results: Mapping[str, str]) -> None:
    """Raises ApiProblem if a call was started, or is to run again, and has no result. A holder that was
    restarted, or that got no answer, does not know whether the call ran. Only people can say that, and they
    are asked when the lease ends. A call that they order to run again must run before the review is done.
    """
    for call in review.calls:
        run = review.runs.get(call.key)
        if run is None or call.tool_call_id in results:
            continue
        if run.state == "started":
            raise ApiProblem(
                "no_result",
                f"The call {call.tool_call_id!r} was started. Send its result, also if it failed. If you"
                " don't know whether it ran, send nothing: when the lease ends, a person is asked.",
                pointer="/results",
            )
        if run.state == "cleared":
            raise ApiProblem(
                "no_result",
                f"The call {call.tool_call_id!r} is to run again: send `once`, and then its result.",
                pointer="/results",
            )


def may_have_run(review: Review) -> list[str]:
    """The keys of the calls that a holder may have started, if the stored review lacks the latest events."""
    pending = {action.key for action in review.actions if action.is_pending}
    return [
        call.key for call in review.calls if call.key in pending or claims.can_run(review, call)
    ]


def has_same_results(review: Review, results: Mapping[str, str]) -> bool:
    """Whether a done review already has exactly these results: then the request was repeated."""
    calls = {call.tool_call_id: call.key for call in review.calls}
    runs = {id: review.runs.get(calls[id]) for id in results if id in calls}
    return all(
        (run := runs.get(id)) is not None and run.result_hash == CallResult.of(text).result_hash
        for id, text in results.items()
    )


def _not_settled() -> ApiProblem:
    return ApiProblem("not_settled", "People have not decided on everything yet. Wait for it.")


def _cancelled() -> ApiProblem:
    return ApiProblem("cancelled", "This review was cancelled: none of its calls runs.")


def _is_same_json(actual: object, decided: object) -> bool:
    """Whether these are the same JSON. Numbers are compared by value: some languages can't tell
    1.0 from 1.
    """
    if isinstance(actual, dict) and isinstance(decided, dict):
        one, other = cast(dict[str, Any], actual), cast(dict[str, Any], decided)
        return one.keys() == other.keys() and all(
            _is_same_json(one[key], other[key]) for key in one
        )
    if isinstance(actual, list) and isinstance(decided, list):
        some, others = cast(list[Any], actual), cast(list[Any], decided)
        return len(some) == len(others) and all(map(_is_same_json, some, others))
    return isinstance(actual, bool) == isinstance(decided, bool) and actual == decided
