"""Make one card true at one place: post it, find it again, or update it; never two, never older."""

from __future__ import annotations

import logging

from bot.card import card
from bot.channel import Channel, MessageGone, Undeliverable
from hitl_core.failpoints import failpoint
from hitl_core.model import MessageRef, Place, Review, Snapshot
from hitl_core.review.service import Reviews

log = logging.getLogger(__name__)


async def deliver(
    reviews: Reviews, channel: Channel, review_id: str, place: Place, *, again: bool
) -> None:
    """`again`: an earlier try may have posted it. Raises what the channel raises, and StoreUnavailable.

    A review that is over needs no first card, and one that is done is not tried for ever.
    """
    snapshot = await reviews.load(review_id)
    try:
        await _deliver(reviews, channel, snapshot, place, again)
    except Undeliverable as error:
        review, posted = snapshot.review, place in snapshot.posts
        if not (again and review.status == "done" if posted else _over(review)):
            raise
        log.warning("review %s is over: its card at %s is let go: %s", review_id, place, error)


def _over(review: Review) -> bool:
    """Nobody has anything to decide about it any more."""
    return review.status == "done" or review.cancelled is not None


async def _deliver(
    reviews: Reviews, channel: Channel, snapshot: Snapshot, place: Place, again: bool
) -> None:
    review_id = snapshot.review.id
    ref = snapshot.posts.get(place)
    if ref is None:
        ref = await _first(reviews, channel, snapshot, place, again)
        if ref is None:
            return
        snapshot = await reviews.load(review_id)
    elif again:
        # Who had this entry before may have died with a second post, or after drawing an older state.
        await _delete_others(channel, snapshot, place, ref)
        snapshot = snapshot.model_copy(update={"shown": {}})
    while snapshot.shown.get(place, 0) < snapshot.review.version:
        await _update(channel, ref, snapshot, place)
        shown = await reviews.store.record_shown(review_id, place, snapshot.review.version)
        if shown <= snapshot.review.version:
            return
        # Another bot drew a newer one in the meantime, and this one may have covered it.
        snapshot = (await reviews.load(review_id)).model_copy(update={"shown": {}})


async def _first(
    reviews: Reviews, channel: Channel, snapshot: Snapshot, place: Place, again: bool
) -> MessageRef | None:
    """Post the card. Of two posts the recorded one stays; the loser deletes its own. None where it comes
    too late to be of use to anybody.
    """
    review = snapshot.review
    found = await _found(channel, snapshot, place) if again else []
    if again and not found and _over(review):
        return None
    await failpoint("outbox.before_post")
    mine = found[0] if found else await _post(channel, snapshot, place)
    await failpoint("outbox.after_post")
    winner = await reviews.store.record_post(review.id, place, mine)
    if winner != mine:
        await channel.delete(mine)
    if again:  # the lost one may have shown up only now
        await _delete_others(channel, snapshot, place, winner)
    await failpoint("outbox.after_record")
    if winner == mine and not again:
        await reviews.store.record_shown(review.id, place, review.version)
    return winner


async def _found(channel: Channel, snapshot: Snapshot, place: Place) -> list[MessageRef]:
    """Our messages about this review at this place; another place may be the same conversation."""
    elsewhere = [ref for other, ref in snapshot.posts.items() if other != place]
    found = await channel.find(place, snapshot.review.id, snapshot.review.created_at)
    return [ref for ref in found if ref not in elsewhere]


async def _delete_others(
    channel: Channel, snapshot: Snapshot, place: Place, keep: MessageRef
) -> None:
    for ref in await _found(channel, snapshot, place):
        if ref != keep:
            await channel.delete(ref)


async def _post(channel: Channel, snapshot: Snapshot, place: Place) -> MessageRef:
    drawn = card(snapshot.review, place)
    try:
        return await channel.post(place, drawn)
    except Undeliverable as error:
        try:
            posted = await channel.post_plain(place, drawn)
        except Undeliverable:
            raise error from None  # it was not the card that was refused, but the place
        log.error(
            "review %s: its card was refused (%s), so it is text only", drawn.review_id, error
        )
        return posted


async def _update(channel: Channel, ref: MessageRef, snapshot: Snapshot, place: Place) -> None:
    try:
        await channel.update(ref, card(snapshot.review, place))
    except MessageGone:
        # Somebody deleted it. What was decided is stored; a new post would ask again.
        log.warning("review %s: its message at %s is gone", snapshot.review.id, place)
