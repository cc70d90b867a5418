"""Loads a review, applies one transition, commits it: the only writer of reviews."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import NamedTuple, TypeVar
from weakref import WeakValueDictionary

from hitl_core.errors import (
    HitlError,
    Refused,
    ReviewConflict,
    ReviewNotFound,
    StoreUnavailable,
    safe_message,
)
from hitl_core.model import Event, MessageRef, Place, Review, Reviewer, Snapshot
from hitl_core.review import claims, state_machine
from hitl_core.review.state_machine import Proposal, Transition
from hitl_core.store import Store, Write

log = logging.getLogger(__name__)

T = TypeVar("T")
TransitionFunction = Callable[[Review, float], Transition]

#: How many lost compares are tried again before the command is refused visibly.
MAX_ATTEMPTS = 10
#: How many operations' ids a review remembers: more than may come between a lost reply and the next try,
#: also when all calls of a long turn start at once.
MAX_OPS = 128


def uptime() -> float:
    """Seconds that a machine's sleep counts in, where the system can tell: a lease ends in it as well."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class ChangeResult(NamedTuple):
    """The review as it is stored now; `fresh` is False where this operation was applied before."""

    review: Review
    now: float
    is_new: bool


class Reviews:
    """`patience` is how long, in seconds, an unreachable store is asked again before StoreUnavailable."""

    def __init__(self, store: Store, retry_seconds: float = 2.0) -> None:
        self.store = store
        self._retry_seconds = retry_seconds
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def with_retry(self, call: Callable[[], Awaitable[T]]) -> T:
        """Ask the store, again while it is away: only what is safe to repeat. Raises StoreUnavailable."""
        return await _retry_until(call, time.monotonic() + self._retry_seconds)

    async def load(self, review_id: str) -> Snapshot:
        """Raises ReviewNotFound, StoreUnavailable."""
        return await self._load(review_id, time.monotonic() + self._retry_seconds)

    async def load_outline(self, review_id: str) -> Snapshot:
        """The same without arguments, for code that looks at many reviews."""
        return _require(
            review_id, await self.with_retry(lambda: self.store.load_outline(review_id))
        )

    async def _load(self, review_id: str, end: float) -> Snapshot:
        return _require(review_id, await _retry_until(lambda: self.store.load(review_id), end))

    async def submit(self, review: Review, event: Event) -> Review:
        """Store a new review, or find the one that an earlier try stored.

        Raises ReviewConflict where one of this id was stored with other arguments.
        """
        write = _build_write(None, Transition(review, event))
        if await self.with_retry(lambda: self.store.commit(write)):
            return review
        stored = (await self.load(review.id)).review
        if [(c.name, c.digest) for c in stored.calls] != [(c.name, c.digest) for c in review.calls]:
            raise ReviewConflict(
                f"The review {review.id} was submitted before with other arguments. Give the model's turn"
                " a `turn` of its own."
            )
        return stored

    async def change(
        self, review_id: str, op: str, apply: TransitionFunction, snapshot: Snapshot | None = None
    ) -> ChangeResult:
        """Apply a transition once, whatever is lost on the way: `op` names it, the same on every try.

        What was `seen` just now need not be read again: had it changed, the compare would fail.

        Raises what the transition raises, ReviewNotFound, StoreUnavailable, and Refused("busy") where
        others kept changing the review.
        """
        end = time.monotonic() + self._retry_seconds
        # One at a time in this process: the calls of a long turn may all start at once, and would lose
        # compare after compare to each other.
        lock = self._locks.setdefault(review_id, asyncio.Lock())
        async with lock:
            return await self._change(review_id, op, apply, end, snapshot)

    async def _change(
        self,
        review_id: str,
        op: str,
        apply: TransitionFunction,
        end: float,
        loaded: Snapshot | None,
    ) -> ChangeResult:
        lost = 0
        while lost < MAX_ATTEMPTS:
            snapshot, loaded = loaded or await self._load(review_id, end), None
            before, now = snapshot.review, snapshot.now
            if op in before.ops:
                return ChangeResult(before, now, is_new=False)
            changed = apply(before, now)
            ops = dict([*before.ops.items(), (op, changed.event.kind)][-MAX_OPS:])
            after = changed.review.model_copy(update={"version": before.version + 1, "ops": ops})
            event = changed.event.model_copy(update={"op": op})
            write = _build_write(before, Transition(after, event), snapshot.chain)
            try:
                if await self.store.commit(write):
                    return ChangeResult(after, now, is_new=True)
                lost += 1
                pause = 0.001 * 2**lost
            except StoreUnavailable:
                # Whether it was written is not known: load again, and look for `op`.
                pause = 0.1
                if time.monotonic() + pause > end:
                    raise
            await asyncio.sleep(random.uniform(0, pause))
        raise Refused("busy", "Others are deciding at this very moment. Press again.")

    async def redraw(
        self, review_id: str, message: MessageRef, *, only_duplicate: bool = False
    ) -> None:
        """Somebody pressed a button on this message that shows something else than what is stored: ask the
        bots to draw it again, or to delete it where it is a second one. It raises nothing, and asked again it
        does the same once. `only_second`: nothing where it is the one that is noted.
        """
        try:
            if (snapshot := await self.store.load(review_id)) is None:
                return
            here = {ref.conversation: copy for copy, ref in snapshot.posts.items()}
            copy = next((copy for copy, ref in snapshot.posts.items() if ref == message), None)
            if copy is not None:
                if not only_duplicate:
                    await self.store.redraw(review_id, copy)
            elif message.conversation in here:
                note = f"{message.channel} {message.conversation} {message.ts}"
                await self.store.redraw(review_id, here[message.conversation], "stray", note)
        except HitlError as error:
            log.warning(
                "review %s: its card is not drawn again: %s", review_id, safe_message(error)
            )

    async def can_still_run(
        self, applied: ChangeResult, key: str, fence: int, since: float
    ) -> bool:
        """Whether the call that this claim let begin may run now, `since` the clock before it was asked.

        The answer to `start` says what was true when it was stored. Where it came late, or was found again
        after a lost reply, the lease may have ended meanwhile and a person may have had the call run again:
        then the review is read once more. False where the call is over; raises LeaseLost, StoreUnavailable.
        """
        review, sure = applied.review, applied.is_new
        while (
            not sure or review.lease is None or uptime() - since >= review.lease.until - applied.now
        ):
            since = uptime()
            snapshot = await self.load(review.id)
            review, sure = snapshot.review, True
            applied = ChangeResult(review, snapshot.now, is_new=True)
            if not claims.is_started(review, fence, key, snapshot.now):
                return False
        return True

    async def record_refusal(
        self,
        review_id: str,
        code: str,
        by: Reviewer,
        op: str,
        *,
        action: str | None = None,
        place: Place | None = None,
        why: str | None = None,
    ) -> None:
        """Put into the audit what somebody tried and was refused with this code. It raises nothing: who was
        refused is told so, whether it can be noted or not.
        """
        event = Event(
            kind="refused", review_id=review_id, at=0.0, by=by, action=action, what=code, why=why,
            place=place, op=op,
        )  # fmt: skip
        try:
            await self.store.record_refusal(review_id, event)
        except HitlError as error:
            log.warning(
                "review %s: a refused attempt is not in the audit: %s",
                review_id,
                safe_message(error),
            )

    async def decide(
        self,
        review_id: str,
        key: str,
        proposal: Proposal,
        by: Reviewer,
        op: str,
        snapshot: Snapshot | None = None,
        *,
        ineligible_voters: Collection[str] = (),
        place: Place | None = None,
        has_new_grant: bool = False,
    ) -> ChangeResult:
        """One person's decision. `seen`: see `change`. `lapsed` are the keys of those who voted and may
        decide no more; `place` is where it was clicked; `entitled`: see `transitions.decide`.
        """
        return await self.change(
            review_id,
            op,
            lambda review, now: state_machine.decide(
                review,
                key,
                proposal,
                by,
                now,
                ineligible_voters=ineligible_voters,
                place=place,
                has_new_grant=has_new_grant,
            ),
            snapshot,
        )

    async def decide_all(
        self,
        review_id: str,
        proposals: Mapping[str, Proposal],
        by: Reviewer,
        op: str,
        snapshot: Snapshot | None = None,
        *,
        ineligible_voters: Mapping[str, Collection[str]] | None = None,
        place: Place | None = None,
        seal: str | None = None,
    ) -> ChangeResult:
        """A whole answer, by the actions' keys: stored all at once, or not at all. Raises DecisionError. The
        others as in `decide`, `lapsed` by the actions' keys; `seal` is that of all of them.
        """
        return await self.change(
            review_id,
            op,
            lambda review, now: state_machine.decide_all(
                review,
                proposals,
                by,
                now,
                ineligible_voters=ineligible_voters,
                place=place,
                seal=seal,
            ),
            snapshot,
        )

    async def cancel(
        self, review_id: str, by: Reviewer | None, reason: str | None, op: str
    ) -> ChangeResult:
        """Withdraw it. Raises Refused where its agent has it already, or it was cancelled before."""
        return await self.change(
            review_id, op, lambda review, now: state_machine.cancel(review, by, reason, now)
        )

    async def apply_due(self, review_id: str) -> ChangeResult | None:
        """Do what is due. None where nothing is; `fresh` is False where another bot was faster."""

        def apply_now(review: Review, now: float) -> Transition:
            if review.status == "claimed":
                return claims.expire_lease(review, now)
            return state_machine.apply_due(review, now)

        snapshot = await self.load(review_id)
        try:
            # Two bots that fire the same thing have the same op, and one of them changes nothing.
            op = f"fire:{snapshot.review.version}"
            return await self.change(review_id, op, apply_now, snapshot)
        except Refused:
            return None


async def _retry_until(call: Callable[[], Awaitable[T]], end: float) -> T:
    """Ask an unreachable store again until `end`: only for what is safe to repeat."""
    pause = 0.02
    while True:
        try:
            return await call()
        except StoreUnavailable:
            if time.monotonic() + pause > end:
                raise
        await asyncio.sleep(pause)
        pause = min(pause * 2, 0.5)


def _require(review_id: str, snapshot: Snapshot | None) -> Snapshot:
    if snapshot is None:
        raise ReviewNotFound(f"There is no review {review_id}, or its retention has ended.")
    return snapshot


def _build_write(before: Review | None, changed: Transition, chain: str = "") -> Write:
    """What the indexes must say after this change."""
    review, event = changed
    ready = claims.ready_at(review)
    was_ready = before is not None and claims.ready_at(before) is not None
    settled = review.status == "settled" and ready is not None
    had, has = before.audiences if before else frozenset[str](), review.audiences
    return Write(
        review,
        event,
        args={k: a for k, a in review.args.items() if before is None or k not in before.args},
        due_at=state_machine.due_at(review),
        ready_at=ready,
        wakes_agent=(settled and (not was_ready or event.kind == "lapsed"))
        or review.status == "done",
        chain=chain,
        audiences_added=has - had,
        audiences_removed=had - has,
    )
