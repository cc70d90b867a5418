"""Make one card true at one place: post it, find it again, or draw it; never two, never older. Then say in
its thread what is new.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import assert_never

from hitl_core.errors import Refused
from hitl_core.failpoints import failpoint
from hitl_core.model import Grant, MessageRef, Place, Review, Snapshot
from hitl_core.review import escalation, timers
from hitl_core.review.service import Reviews
from hitl_core.store import Job

from ..card import thread_lines
from ..channels.contract import (
    Channel,
    ChannelError,
    LookupFailed,
    NotFound,
    Undeliverable,
    base_place,
)
from ..health.delivery_problems import DeliveryProblems
from ..health.health import Health
from ..offload import offload_drawing
from ..people.directory import Directory
from ..people.recipients import NoDeciderLeft, Recipients, TooFewDeciders, waiting_actions
from .messages import Messages
from .rate_limit import RateLimit

log = logging.getLogger(__name__)

#: In place of the version that a message shows: somebody deleted it.
GONE = -1


class Delivery:
    """Raises what the channel raises, StoreUnavailable, and ReviewNotFound. `pace` is the least time between
    two messages to one conversation, in seconds.
    """

    def __init__(
        self,
        reviews: Reviews,
        channel: Channel,
        directory: Directory,
        message_interval: float = 0.0,
        health: Health | None = None,
    ) -> None:
        self._reviews = reviews
        self._messages = Messages(channel, RateLimit(reviews.store, message_interval))
        self._delivery_problems = DeliveryProblems(reviews, channel, health or Health())
        self._recipients = Recipients(channel, directory)

    async def run_job(self, job: Job, *, again: bool) -> None:
        """`again`: an earlier try may have been applied."""
        match job.kind:
            case "card":
                await self.deliver(job.review_id, job.place, again=again, since=job.first_at)
            case "check":
                await self.redraw(job.review_id, job.place)
            case "sweep":
                await self.redraw(job.review_id, job.place, since=float(job.note))
            case "stray":
                channel, conversation, ts = job.note.split(" ")
                ref = MessageRef(channel=channel, conversation=conversation, ts=ts)
                await self._remove_stray(job.review_id, job.place, ref)
            case "unknown":
                raise Undeliverable("it can't be read")
            case _:
                assert_never(job.kind)

    async def deliver(
        self, review_id: str, place: Place, *, again: bool, since: float = 0.0
    ) -> None:
        """`again`: an earlier try, at `since` or later, may have posted it.

        A place that can't be reached passes the review on to the policy's fallback. Where nothing waits it
        needs no first card, and one that is done is not tried for ever.
        """
        snapshot = await self._reviews.load(review_id)
        try:
            await self._deliver_copies(snapshot, place, again, since)
        except (Undeliverable, LookupFailed) as error:
            review = snapshot.review
            posted = any(base_place(one) == place for one in snapshot.posts)
            if isinstance(error, NotFound) and await self._pass_on(review, place, error):
                await self._delivery_problems.resolve(review, place)
                return
            if not (
                again and review.status == "done" if posted else not _has_waiting(review, place)
            ):
                too_few = isinstance(error, TooFewDeciders)
                await self._delivery_problems.report(review, place, error, too_few=too_few)
                raise
            log.warning(
                "review %s: nothing waits at %s, so its card is let go: %s", review_id, place, error
            )
        await self._delivery_problems.resolve(snapshot.review, place)

    async def redraw(self, review_id: str, place: Place, since: float | None = None) -> None:
        """Draw what stands at this place once more, whatever it shows: a request that was given up may have
        been applied after it. `since`: also delete what else was posted about it, since then.
        """
        snapshot = await self._reviews.load(review_id)
        copies = [copy for copy in snapshot.posts if place in (copy, base_place(copy))]
        for copy in copies:
            ref = snapshot.posts[copy]
            if since is not None or copy != base_place(copy):
                await self._delete_others(snapshot, copy, ref, since or 0.0)
            await self._draw_latest(_forget_shown_versions(snapshot), copy, ref)

    async def _remove_stray(self, review_id: str, place: Place, ref: MessageRef) -> None:
        """Delete a message on which somebody pressed and which is not noted, as a post can come late: but not
        while one is posted to its conversation, as it may be that one.
        """
        snapshot = await self._reviews.load(review_id)
        posted = {base_place(copy) for copy in snapshot.posts}
        missing = [one for one in snapshot.review.places if one not in posted]
        coming = [await self._messages.is_in_conversation(one, ref.conversation) for one in missing]
        if ref not in snapshot.posts.values() and not any(coming):
            log.warning("review %s: a second message at %s is deleted", review_id, place)
            await self._messages.delete(ref)
        await self.redraw(review_id, place)

    async def _deliver_copies(
        self, snapshot: Snapshot, place: Place, again: bool, since: float
    ) -> None:
        """At the place itself; of a group at each member's, and one who can't be reached stops nobody."""
        posted = any(base_place(one) == place for one in snapshot.posts)
        unknown = None if posted else await self._recipients.check(snapshot.review, place)
        copies = await self._recipients.copies(snapshot, place)
        failed: list[Undeliverable | LookupFailed] = []
        for copy in copies:
            try:
                await self._deliver_at(snapshot, copy, again, since)
            except (Undeliverable, LookupFailed) as error:
                if copy == place:
                    raise
                log.warning("review %s: no copy at %s: %s", snapshot.review.id, copy, error)
                failed.append(error)
        if copies and len(failed) == len(copies):
            raise next((one for one in failed if not isinstance(one, NotFound)), failed[0])
        if posted:  # the last one who may decide can have left since
            unknown = await self._recipients.check(snapshot.review, place)
        if unknown is not None:
            raise unknown

    async def _deliver_at(
        self, snapshot: Snapshot, place: Place, again: bool, since: float
    ) -> None:
        """`place` may be a copy."""
        review_id = snapshot.review.id
        ref = snapshot.posts.get(place)
        if ref is None:
            ref = await self._post_first(snapshot, place, again, since)
            if ref is None:
                return
            snapshot = await self._reviews.load(review_id)
        if await self._start_clocks(snapshot, place):
            snapshot = await self._reviews.load(review_id)  # its card can say now by when
        if again:  # who began this before may have drawn an older state
            snapshot = _forget_shown_versions(snapshot)
        latest = await self._draw_latest(snapshot, place, ref)
        await self._post_thread_lines(latest, place, ref)
        if latest.shown.get(place) == GONE and waiting_actions(latest.review, base_place(place)):
            raise Undeliverable("its message there was deleted, and it waits for people")

    async def _draw_latest(self, snapshot: Snapshot, place: Place, ref: MessageRef) -> Snapshot:
        """Until it shows the newest state; which that was. Where it was deleted it shows GONE."""
        while snapshot.shown.get(place, 0) < snapshot.review.version:
            review = snapshot.review
            if not await self._messages.draw(ref, snapshot, place) and waiting_actions(
                review, base_place(place)
            ):
                # Not noted as shown: it is a trouble until it is decided.
                return snapshot.model_copy(update={"shown": {**snapshot.shown, place: GONE}})
            shown_version = await self._reviews.store.record_shown_version(
                review.id, place, review.version
            )
            if shown_version <= review.version:
                break
            # Another bot drew a newer one in the meantime, and this one may have covered it.
            snapshot = _forget_shown_versions(await self._reviews.load(review.id))
        return snapshot

    async def _post_first(
        self, snapshot: Snapshot, place: Place, again: bool, since: float
    ) -> MessageRef | None:
        """Post the card. Of two posts the recorded one stays; the loser deletes its own. None where it comes
        too late to be of use to anybody.
        """
        review, store = snapshot.review, self._reviews.store
        matches = await self._messages.find(snapshot, place, since) if again else []
        if again and not matches and _is_over(review):
            return None
        await failpoint("outbox.before_post")
        mine = matches[0] if matches else await self._messages.post(snapshot, place)
        await failpoint("outbox.after_post")
        winner = await store.record_post(review.id, place, mine)
        for loser in [ref for ref in (mine, *matches[1:]) if ref != winner]:
            await self._messages.delete(loser)
        await failpoint("outbox.after_record")
        if winner == mine and not again:
            await store.record_shown_version(review.id, place, review.version)
        return winner

    async def _start_clocks(self, snapshot: Snapshot, place: Place) -> bool:
        """Of the actions whose time counts from the moment at which people could see them; whether any."""
        keys = [
            action.key
            for action in waiting_actions(snapshot.review, base_place(place))
            if action.clock_start is None
        ]
        if not keys:
            return False
        try:
            await self._reviews.change(
                snapshot.review.id,
                f"delivered:{place}:{snapshot.review.version}",  # after an edit it may come here again
                lambda review, now: timers.start_clocks(review, keys, now),
            )
        except Refused as refused:  # another place was faster
            log.debug("review %s: %s", snapshot.review.id, refused)
        return True

    async def _post_thread_lines(self, snapshot: Snapshot, place: Place, ref: MessageRef) -> None:
        """What is new of the thread, each line once: one that dies on the way is not said again."""
        review, store = snapshot.review, self._reviews.store
        lines = await offload_drawing(review, lambda: thread_lines(review, base_place(place)))
        for number, line in enumerate(lines):
            mark = f"told:{place}:{number}"
            if mark in snapshot.marks or not await store.record_mark(review.id, mark):
                continue
            try:
                await self._messages.reply(place, ref, line)
            except Undeliverable as error:
                log.warning("review %s: its thread was not told: %s", review.id, error)

    async def _pass_on(self, review: Review, place: Place, error: NotFound) -> bool:
        """Give what waits there to others. Whether this place is no longer needed for it, or comes again."""
        if isinstance(error, NoDeciderLeft):
            return await self._replace_deciders(review, place, error.undecidable, str(error))
        if isinstance(error, TooFewDeciders):  # nobody gets a right, and it stays a problem
            await self._show_in_fallback(review, place, str(error))
            return False
        # What is only not known opens the review to nobody else.
        with suppress(ChannelError):
            undecidable = await self._recipients.undecidable(review, place, is_lost=True)
            await self._replace_deciders(review, place, undecidable, str(error))
        return await self._show_in_fallback(review, place, str(error))

    async def _replace_deciders(
        self, review: Review, place: Place, undecidable: Mapping[str, tuple[Grant, ...]], why: str
    ) -> bool:
        try:
            await self._reviews.change(
                review.id,
                f"replace:{place}:{review.version}",
                lambda review, now: escalation.replace_deciders(
                    review, undecidable, place, why, now
                ),
            )
        except Refused as refused:
            log.debug("review %s: %s", review.id, refused)
            return refused.code == "changed"
        log.error("review %s: others may decide on it now: %s", review.id, why)
        return True

    async def _show_in_fallback(self, review: Review, place: Place, why: str) -> bool:
        """Whether all that waits there stands in its fallback."""
        try:
            applied = await self._reviews.change(
                review.id,
                f"fallback:{place}:{review.version}",
                lambda review, now: escalation.use_fallback(review, place, why, now),
            )
            review = applied.review
            log.error(
                "review %s: %s can't show it, so its fallback does: %s", review.id, place, why
            )
        except Refused as refused:
            log.debug("review %s: %s", review.id, refused)
            review = (await self._reviews.load(review.id)).review
        waiting = waiting_actions(review, place)
        fallbacks = [(action.route.fallback, action.places) for action in waiting]
        return bool(waiting) and all(to and to != place and to in at for to, at in fallbacks)

    async def _delete_others(
        self, snapshot: Snapshot, place: Place, keep: MessageRef, since: float
    ) -> None:
        for ref in await self._messages.find(snapshot, place, since):
            if ref != keep:
                await self._messages.delete(ref)


def _forget_shown_versions(snapshot: Snapshot) -> Snapshot:
    """As if none of its messages showed anything: what they show is not known."""
    return snapshot.model_copy(update={"shown": {}})


def _has_waiting(review: Review, place: Place) -> bool:
    """Whether anything waits for people at this place."""
    doubts = any(place in review.places_of(call) for call in review.calls_in_doubt)
    return bool(waiting_actions(review, place)) or (doubts and not _is_over(review))


def _is_over(review: Review) -> bool:
    """Nobody has anything to decide about it any more."""
    return review.status == "done" or review.cancelled is not None
