"""Make one card true at one place: post it, find it again, or update it; never two, never older. Then say in
its thread what is new.
"""

from __future__ import annotations

import asyncio
import logging

from bot.apart import apart
from bot.card import Card, card, thread
from bot.channel import (
    Channel,
    ChannelError,
    Limited,
    LookupFailed,
    MessageGone,
    NotThere,
    Undeliverable,
    of_copy,
)
from bot.directory import Directory
from bot.reach import NobodyLeft, Reach, asked
from hitl_core.errors import Refused
from hitl_core.failpoints import failpoint
from hitl_core.model import MessageRef, Place, Review, Snapshot
from hitl_core.review import transitions
from hitl_core.review.service import Reviews

log = logging.getLogger(__name__)


class Delivery:
    """Raises what the channel raises, StoreUnavailable, and ReviewNotFound."""

    def __init__(self, reviews: Reviews, channel: Channel, directory: Directory) -> None:
        self._reviews, self._channel = reviews, channel
        self._reach = Reach(channel, directory)

    async def deliver(self, review_id: str, place: Place, *, again: bool) -> None:
        """`again`: an earlier try may have posted it.

        A place that can't be reached passes the review on to the policy's fallback. Where nothing waits it
        needs no first card, and one that is done is not tried for ever.
        """
        snapshot = await self._reviews.load(review_id)
        try:
            await self._everywhere(snapshot, place, again)
        except (Undeliverable, LookupFailed) as error:
            review = snapshot.review
            posted = any(of_copy(one) == place for one in snapshot.posts)
            # What is only not known opens the review to nobody else.
            if isinstance(error, NotThere) and await self._passed_on(review, place, error):
                return
            if not (again and review.status == "done" if posted else not _is_asked(review, place)):
                raise
            log.warning(
                "review %s: nothing waits at %s, so its card is let go: %s", review_id, place, error
            )

    async def _everywhere(self, snapshot: Snapshot, place: Place, again: bool) -> None:
        """At the place itself; of a group at each member's, and one who can't be reached stops nobody."""
        posted = any(of_copy(one) == place for one in snapshot.posts)
        unknown: ChannelError | None = None
        if not posted:
            await self._reach.check_room(snapshot.review, place)
            unknown = await self._reach.check_people(snapshot.review, place)
        copies = await self._reach.copies(snapshot, place)
        failed: list[Undeliverable | LookupFailed] = []
        for copy in copies:
            try:
                await self._at(snapshot, copy, again)
            except (Undeliverable, LookupFailed) as error:
                if copy == place:
                    raise
                log.warning("review %s: no copy at %s: %s", snapshot.review.id, copy, error)
                failed.append(error)
        if copies and len(failed) == len(copies):
            raise next((one for one in failed if not isinstance(one, NotThere)), failed[0])
        if posted:  # the last one who may decide can have left since
            unknown = await self._reach.check_people(snapshot.review, place)
        if unknown is not None:
            raise unknown

    async def _at(self, snapshot: Snapshot, place: Place, again: bool) -> None:
        """`place` may be a copy."""
        review_id = snapshot.review.id
        ref = snapshot.posts.get(place)
        if ref is None:
            ref = await self._first(snapshot, place, again)
            if ref is None:
                return
            snapshot = await self._reviews.load(review_id)
        elif again:
            # Who had this entry before may have died with a second post, or after drawing an older state.
            await self._delete_others(snapshot, place, ref)
            snapshot = snapshot.model_copy(update={"shown": {}})
        if await self._start_clocks(snapshot, place):
            snapshot = await self._reviews.load(review_id)  # its card can say now by when
        while snapshot.shown.get(place, 0) < snapshot.review.version:
            await self._update(ref, snapshot, place)
            shown = await self._reviews.store.record_shown(
                review_id, place, snapshot.review.version
            )
            if shown <= snapshot.review.version:
                break
            # Another bot drew a newer one in the meantime, and this one may have covered it.
            snapshot = (await self._reviews.load(review_id)).model_copy(update={"shown": {}})
        await self._tell(snapshot, place, ref)

    async def _first(self, snapshot: Snapshot, place: Place, again: bool) -> MessageRef | None:
        """Post the card. Of two posts the recorded one stays; the loser deletes its own. None where it comes
        too late to be of use to anybody.
        """
        review, store = snapshot.review, self._reviews.store
        found = await self._found(snapshot, place) if again else []
        if again and not found and _over(review):
            return None
        await failpoint("outbox.before_post")
        mine = found[0] if found else await self._post(snapshot, place)
        await failpoint("outbox.after_post")
        winner = await store.record_post(review.id, place, mine)
        if winner != mine:
            await self._channel.delete(mine)
        if again:  # the lost one may have shown up only now
            await self._delete_others(snapshot, place, winner)
        await failpoint("outbox.after_record")
        if winner == mine and not again:
            await store.record_shown(review.id, place, review.version)
        return winner

    async def _start_clocks(self, snapshot: Snapshot, place: Place) -> bool:
        """Of the actions whose time counts from the moment at which people could see them; whether any."""
        keys = [
            action.key for action in asked(snapshot.review, of_copy(place)) if action.clock is None
        ]
        if not keys:
            return False
        try:
            await self._reviews.change(
                snapshot.review.id,
                f"delivered:{place}",
                lambda review, now: transitions.delivered(review, keys, now),
            )
        except Refused as refused:  # another place was faster
            log.debug("review %s: %s", snapshot.review.id, refused)
        return True

    async def _tell(self, snapshot: Snapshot, place: Place, ref: MessageRef) -> None:
        """What is new of the thread, each line once: one that dies on the way is not said again."""
        review, store = snapshot.review, self._reviews.store
        lines = await apart(review, lambda: thread(review, of_copy(place)))
        for number, line in enumerate(lines):
            mark = f"told:{place}:{number}"
            if mark in snapshot.marks or not await store.record_mark(review.id, mark):
                continue
            while True:
                try:
                    await self._channel.reply(place, ref, line)
                    break
                except Limited as limited:
                    await asyncio.sleep(limited.seconds)
                except Undeliverable as error:
                    log.warning("review %s: its thread was not told: %s", review.id, error)
                    break

    async def _passed_on(self, review: Review, place: Place, error: Undeliverable) -> bool:
        """Whether all that waits there has gone to its fallback."""
        why, nobody = str(error), isinstance(error, NobodyLeft)
        try:
            applied = await self._reviews.change(
                review.id,
                f"reroute:{place}:{review.version}",
                lambda review, now: transitions.reroute(review, place, why, now, nobody=nobody),
            )
            review = applied.review
            log.error(
                "review %s: %s can't show it, so its fallback does: %s", review.id, place, why
            )
        except Refused as refused:
            log.debug("review %s: %s", review.id, refused)
        waiting = asked(review, place)
        fallbacks = [(action.route.fallback, action.places) for action in waiting]
        return bool(waiting) and all(to and to != place and to in at for to, at in fallbacks)

    async def _found(self, snapshot: Snapshot, place: Place) -> list[MessageRef]:
        """Our messages about this review at this place; another place may be the same conversation."""
        elsewhere = [ref for other, ref in snapshot.posts.items() if other != place]
        review = snapshot.review
        found = await self._channel.find(place, review.id, review.created_at)
        return [ref for ref in found if ref not in elsewhere]

    async def _delete_others(self, snapshot: Snapshot, place: Place, keep: MessageRef) -> None:
        for ref in await self._found(snapshot, place):
            if ref != keep:
                await self._channel.delete(ref)

    async def _post(self, snapshot: Snapshot, place: Place) -> MessageRef:
        drawn = await _drawn(snapshot, place)
        try:
            return await self._channel.post(place, drawn)
        except Undeliverable as error:
            try:
                posted = await self._channel.post_plain(place, drawn)
            except Undeliverable:
                raise error from None  # it was not the card that was refused, but the place
            log.error(
                "review %s: its card was refused (%s), so it is text only", drawn.review_id, error
            )
            return posted

    async def _update(self, ref: MessageRef, snapshot: Snapshot, place: Place) -> None:
        try:
            await self._channel.update(ref, await _drawn(snapshot, place))
        except MessageGone:
            # Somebody deleted it. What was decided is stored; a new post would ask again.
            log.warning("review %s: its message at %s is gone", snapshot.review.id, place)


async def _drawn(snapshot: Snapshot, place: Place) -> Card:
    review = snapshot.review
    return await apart(review, lambda: card(review, of_copy(place), snapshot.posts))


def _is_asked(review: Review, place: Place) -> bool:
    """Whether anything waits for people at this place."""
    doubts = any(place in review.places_of(call) for call in review.doubts)
    return bool(asked(review, place)) or (doubts and not _over(review))


def _over(review: Review) -> bool:
    """Nobody has anything to decide about it any more."""
    return review.status == "done" or review.cancelled is not None
