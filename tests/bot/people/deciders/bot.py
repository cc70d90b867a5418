"""A bot that delivers cards, with an empty cache each time."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from bot.channels.contract import ChannelError
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox.delivery import Delivery
from bot.people.directory import Directory
from hitl_core.model import Action, Place
from hitl_core.review import claims
from hitl_core.review.service import Reviews
from tests.support.builders import approve_all, call, policy, review_of

APPROVALS, OPS, ASK, ARCHIVED = (
    Place("slack:#agent-approvals"),
    Place("slack:#team-ops"),
    Place("slack:#ask-agent"),
    Place("slack:C0OLD"),
)


GONE = {"users": ["U0GONE"]}


DANA = {"users": ["U0DANA"]}


def step(to: Place, after: str = "1h", **reviewers: Any) -> dict[str, Any]:
    return {"after": after, "to": to, **({"reviewers": reviewers} if reviewers else {})}


class Bot:
    """Delivers like a bot with an empty cache."""

    def __init__(self, reviews: Reviews, channel: SlackChannel, health: Health) -> None:
        self.reviews, self.channel, self.health = reviews, channel, health

    async def submit(self, requester: str | None = None, **rules: dict[str, Any]) -> str:
        calls = [call(name, f"c{number}") for number, name in enumerate(rules)]
        review, event = review_of(calls, by=policy(**rules), requester=requester)
        await self.reviews.submit(review, event)
        return review.id

    async def deliver(self, review_id: str) -> list[Action]:
        """At each place, until nothing changes."""
        version = 0
        while version < (review := (await self.reviews.load(review_id)).review).version:
            version = review.version
            for place in review.places:
                with suppress(ChannelError):
                    await self.deliver_at(review_id, place)
        return list(review.actions)

    async def deliver_at(self, review_id: str, place: Place) -> None:
        await self.delivery().deliver(review_id, place, again=False)

    def delivery(self) -> Delivery:
        directory = Directory(Channels(self.channel))
        return Delivery(self.reviews, Channels(self.channel), directory, health=self.health)


def members_of(action: Action) -> set[Place]:
    """The places whose members may decide."""
    return {place for grant in action.grants if grant.includes_members for place in grant.places}


async def in_doubt(bot: Bot, review_id: str) -> None:
    """Approved where it has to be, and started by a process that died."""
    await approve_all(bot.reviews, review_id)
    await bot.reviews.change(review_id, "claim", lambda r, now: claims.claim(r, "p1", now, 30))
    await bot.reviews.change(review_id, "start", lambda r, now: claims.start(r, r.fence, "1", now))
    await bot.reviews.change(review_id, "die", lambda r, now: claims.expire_lease(r, now + 100))
