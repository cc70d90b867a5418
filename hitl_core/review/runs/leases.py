"""How long a process has a claimed review. Pure."""

from __future__ import annotations

from hitl_core.errors import LeaseLost
from hitl_core.model import Lease, Review

#: What is no change of the clock, in seconds.
_ROUNDING = 1.0


def check_lease(review: Review, fence: int, now: float) -> Lease:
    """The lease of this claim. Raises LeaseLost if it has ended."""
    lease = review.lease
    if review.status == "done":
        raise LeaseLost("This review is done: nothing of it runs any more.")
    if review.status != "claimed" or lease is None or lease.fence != fence or lease.until <= now:
        raise LeaseLost("This process no longer holds the review: its lease ended.")
    return lease


def extend_lease(lease: Lease, now: float, seconds: float) -> Lease:
    return lease.model_copy(update={"until": now + seconds, "seconds": seconds})


def seconds_left(lease: Lease, now: float) -> float:
    """How long its holder may count on the lease. Not for longer than it was given, if the store's clock was
    set back: see `ends_late`.
    """
    return min(lease.until - now, lease.seconds)


def ends_late(review: Review, now: float) -> bool:
    """Whether the lease ends later than one that is given now: the store's clock was set back since."""
    lease = review.lease if review.status == "claimed" else None
    return lease is not None and lease.until > now + lease.seconds + _ROUNDING
