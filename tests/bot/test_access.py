"""What has to be read before it is approved."""

from __future__ import annotations

import threading
from collections.abc import Collection

import pytest

from bot.card import Card
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.inbox.access import ReviewAccess
from bot.inbox.reply import ReadRequired
from bot.offload import MAX_INLINE_ARGS
from bot.people.directory import Directory
from hitl_core.model import Snapshot
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.support.builders import call, person, policy, review_of


async def test_attack_a16_a_large_review_is_drawn_once_for_each_place_beside_the_loop(
    channel: SlackChannel,
) -> None:
    """Given nine large calls that must be read, in two channels, when all are approved at once, then each
    channel's card is drawn once, in a thread, to see what it doesn't show whole."""
    drawn_in: list[threading.Thread] = []

    def incomplete_actions(card: Card) -> Collection[str]:
        drawn_in.append(threading.current_thread())
        return Channels(channel).incomplete_actions(card)

    rule = {"must_read": True, "notify": ["slack:#team-ops", "slack:#agent-approvals"]}
    calls = [call("read", f"c{n}", text="x" * MAX_INLINE_ARGS) for n in range(9)]
    review, _ = review_of(calls, by=policy(read=rule))
    access = ReviewAccess(Reviews(MemoryStore()), Directory(Channels(channel)), incomplete_actions)
    snapshot = Snapshot(review=review, posts={}, shown={}, now=0.0)

    with pytest.raises(ReadRequired):
        await access.read_marks.check(snapshot, review.actions, "approve", person())

    assert len(drawn_in) == 2
    assert threading.main_thread() not in drawn_in
