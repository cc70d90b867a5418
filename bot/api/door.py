"""What an agent may do at the door, each as one call: the core's own rules, for whoever holds a token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from uuid import uuid4

from bot.api import holding
from bot.api.access import Access
from bot.api.asked import LEASE, Cancel, Done, OnceIn, Renew, Submit, SubmitInterrupt
from bot.api.bell import Bell
from bot.api.bodies import MAX_BODY
from bot.api.policies import Policies
from bot.api.problems import Problem, invalid
from bot.api.shapes import OnceOut, RenewOut
from bot.api.turns import Judged, judged
from bot.api.view import is_over
from hitl_core.errors import Refused, ReviewConflict
from hitl_core.failpoints import failpoint
from hitl_core.gate.origin import check_origin
from hitl_core.gate.policies import PolicyNotes
from hitl_core.gate.request import Turn
from hitl_core.gate.turns import next_turn
from hitl_core.model import Call, Review, Snapshot, Token
from hitl_core.review import execution, transitions
from hitl_core.review.service import clock
from hitl_core.review.transitions import Changed
from hitl_core.store import Store
from hitl_core.store.keys import digest_of

#: Who waits for a review that came through the door, until a process with a gate does: its heart never beats.
CLIENT = "http"


class Door:
    """Every method raises Problem, LeaseLost, Refused, StoreUnavailable or StoreError where it does nothing.

    A token sees the reviews of its agent, and no others. `key` names an operation, so that its repetition
    gets the same answer; None for who sends each request once.
    """

    def __init__(self, store: Store, policies: Policies) -> None:
        self._access, self._policies, self._bell = Access(store), policies, Bell(store)
        self._notes = PolicyNotes(self._access.reviews)

    async def close(self) -> None:
        """Long polls are answered now."""
        await self._bell.close()

    async def admit(self, text: str) -> Token:
        """The token with this text."""
        return await self._access.token(text)

    async def submit(
        self, who: Token, asked: Submit | SubmitInterrupt, *, large: bool = False
    ) -> list[tuple[Review, bool]]:
        """The reviews, one but for several interrupts at once, and whether each is new; False where this turn
        was submitted before.
        """
        policy = self._policies.of(who.agent)
        made = await judged(policy, asked, large=large)
        await self._access.do(partial(self._notes.note, who.agent, policy))
        turn = Turn(who.agent, asked.thread_id, asked.turn or "", asked.requester, asked.origin)
        with invalid("/origin"):
            check_origin(asked.origin)
        if asked.turn is None:
            ids = [call.id for call in made[0].request.calls]
            turn = await self._access.do(partial(next_turn, self._access.reviews, turn, ids))
        return [await self._store(each, turn) for each in made]

    async def _store(self, made: Judged, turn: Turn) -> tuple[Review, bool]:
        reviews, store = self._access.reviews, self._access.store
        now = await self._access.ask(store.now)
        with invalid("/requester"):
            review, event = made.build(turn, store.partitions, now)
        review = review.model_copy(update={"waiter": CLIENT})
        await failpoint("door.before_submit")
        try:
            stored = await self._access.do(partial(reviews.submit, review, event))
        except ReviewConflict as error:
            raise Problem("conflict", str(error)) from error
        return stored, stored is review

    async def settled(
        self, who: Token, review_id: str, wait: float, gone: Callable[[], bool]
    ) -> Review:
        """Waits `wait` seconds at most for everything to be decided; `gone` tells that nobody listens."""

        async def look() -> tuple[Review, bool]:
            review = (await self._access.review(who, review_id)).review
            return review, is_over(review)

        return await self._bell.wait(review_id, look, wait, gone)

    async def of_thread(self, who: Token, thread_id: str, limit: int) -> list[Review]:
        """Live ones first, each in the order of submission."""
        ids = await self._access.ask(partial(self._access.store.thread, thread_id))
        return await self._some(who, ids, limit)

    async def ready(
        self, who: Token, limit: int, wait: float, gone: Callable[[], bool]
    ) -> list[Review]:
        """Those that may be claimed now, the longest waiting first. Waits for the first of them."""

        async def look() -> tuple[list[Review], bool]:
            ids = await self._access.ask(partial(self._access.store.ready, who.agent, 1000))
            found = await self._some(who, ids, limit, unwaited=True)
            return found, bool(found)

        return await self._bell.wait(None, look, wait, gone)

    async def once(self, who: Token, review_id: str, asked: OnceIn, key: str | None) -> OnceOut:
        """Whether this call may start now, for the first time: then this holder has the review."""
        snapshot = await self._access.review(who, review_id)
        review, holder = snapshot.review, _holder(who, asked.holder)
        call = _call(review, asked.tool_call_id)
        holding.check_may_run(review, call)
        holding.check_unchanged(review, call, asked.name, asked.args)
        # As `Outcome.idempotency_key` has it.
        answer = partial(OnceOut, idempotency_key=f"{review.id}:{call.key}")
        if review.status == "done":
            return answer(run=False, fencing_token=review.fence, lease_until=None)
        await failpoint("door.before_once")
        held = await self._hold(snapshot, holder, asked.lease)

        def start(review: Review, now: float) -> Changed:
            return holding.start(review, held.fence, call, now, asked.lease)

        # With the claim's number: in a later claim the same key is another operation.
        op = _op("once", who, key, call.key, str(held.fence))
        since = clock()
        try:
            applied = await self._access.change(review_id, op, start)
        except Refused as refused:
            if refused.code != "already_started":
                raise
            return answer(run=False, fencing_token=held.fence, lease_until=_until(held))
        await failpoint("door.after_once")
        began = partial(self._access.reviews.began, applied, call.key, held.fence, since)
        run = await self._access.do(began)
        return answer(run=run, fencing_token=held.fence, lease_until=_until(applied.review))

    async def renew(self, who: Token, review_id: str, asked: Renew) -> RenewOut:
        await self._access.review(who, review_id)
        holder = _holder(who, asked.holder)

        def keep(review: Review, now: float) -> Changed:
            return holding.keep(review, holder, now, asked.lease)

        kept = await self._access.change(review_id, _op("renew", who), keep)
        return RenewOut(lease_until=_until(kept.review) or 0.0)

    async def done(self, who: Token, review_id: str, asked: Done, key: str | None) -> Review:
        """The agent is through with it. Claims it first where nobody has it: nothing had to run."""
        snapshot = await self._access.review(who, review_id)
        review, op = snapshot.review, _op("done", who, key)
        if review.status == "done":
            if op in review.ops or holding.told_before(review, asked.results):
                return review
            raise Problem("done", "This review is done already: these results were not kept.")
        holding.lines_of(review, asked.results)  # refused before it is claimed
        held = await self._hold(snapshot, _holder(who, asked.holder), LEASE)

        def finish(review: Review, now: float) -> Changed:
            lines = holding.lines_of(review, asked.results)
            return execution.finish(review, held.fence, lines, now)

        return (await self._access.change(review_id, op, finish)).review

    async def cancel(self, who: Token, review_id: str, asked: Cancel) -> Review:
        """Withdraw it before anything of it ran. One that is cancelled stays as it is.

        The answer is the outcome. So it is done, where no gate has a run to go on with.
        """
        review = (await self._access.review(who, review_id)).review
        if review.cancelled is not None:
            return review

        def cancel(review: Review, now: float) -> Changed:
            changed = transitions.cancel(review, None, asked.reason, now)
            return holding.over(changed, now) if review.waiter == CLIENT else changed

        try:
            return (await self._access.change(review_id, _op("cancel", who), cancel)).review
        except Refused as refused:
            if refused.code != "cancelled":
                raise
            return (await self._access.review(who, review_id)).review

    async def _hold(self, snapshot: Snapshot, holder: str, lease: float) -> Review:
        """This holder's, as it is or from now on. Raises Problem where it can't be."""
        if holding.held_by(snapshot.review, holder, snapshot.now):
            return snapshot.review

        def take(review: Review, now: float) -> Changed:
            return holding.take(review, holder, now, lease)

        op = f"http:{uuid4().hex}"
        taken = (await self._access.change(snapshot.review.id, op, take)).review
        holding.check_doubts(taken)
        return taken

    async def _some(
        self, who: Token, ids: Sequence[str], limit: int, *, unwaited: bool = False
    ) -> list[Review]:
        """The first of these that this token sees, up to the one with which they are more than a body may
        have; `unwaited`: that no living process waits for.
        """
        found: list[Review] = []
        size = 0
        for review_id in ids:
            if len(found) == limit or size > MAX_BODY:
                break
            with suppress(Problem):  # another agent's, or its retention has just ended
                review = (await self._access.review(who, review_id)).review
                if not (unwaited and await self._is_waited_for(review)):
                    found.append(review)
                    size += size_of(review)
        return found

    async def _is_waited_for(self, review: Review) -> bool:
        """A process with a gate keeps the hand-off for itself while its heart beats."""
        if (waiter := review.waiter) is None:
            return False
        return await self._access.ask(partial(self._access.store.alive, waiter))


def _call(review: Review, tool_call_id: str) -> Call:
    for call in review.calls:
        if call.tool_call_id == tool_call_id:
            return call
    raise Problem("no_such_call", "This review has no such call.", pointer="/tool_call_id")


def size_of(review: Review) -> int:
    """Of what may be long in it, about."""
    told = sum(len(action.request.description) for action in review.actions)
    return told + sum(len(args.data) for args in review.args.values())


def _holder(who: Token, name: str) -> str:
    return f"http:{who.id}:{name}"


def _op(route: str, who: Token, key: str | None = None, *parts: str) -> str:
    """The operation's name: of the key that was given, or one that nothing else has."""
    return f"http:{digest_of(route, who.id, key, *parts) if key else uuid4().hex}"


def _until(review: Review) -> float | None:
    return review.lease.until if review.lease else None
