"""Finds the reviews of a person's Home in the store's index, and looks into them where that is not enough."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from hitl_core.errors import (
    HitlError,
    Refused,
    ReviewNotFound,
    ReviewUnreadable,
    StoreUnavailable,
)
from hitl_core.model import Reviewer, is_id_prefix, is_review_id
from hitl_core.review import Reviews
from hitl_core.store import MAX_DECIDED, WaitingPage

from ...channels.contract import ChannelError
from ...channels.registry import Channels
from ...logs import trace_of
from ...people import MAX_AGE, Cache, Directory
from .permissions import HomePermissions

log = logging.getLogger(__name__)

#: The most waiting reviews that are checked, because nobody opens more pages.
MAX_WAITING = 1000
#: The most of them that are loaded only to see whether they wait for this person. Others that must be loaded
#: for that are not shown.
MAX_CHECKED = 200
#: Reviews that are loaded at the same time.
CONCURRENCY = 4


class HomeCandidates(NamedTuple):
    """Ids of reviews: those that wait for this person, those that wait only for others, and those that they
    decided, each with the time. `more`: more than these may wait. `missing`: a part of the store gave no
    answer, so it is unknown what else there is.
    """

    mine: list[str]
    others: list[str]
    decided: list[tuple[str, float]]
    more: bool
    missing: bool


class HomeIndex:
    """Methods raise ChannelError and StoreUnavailable."""

    def __init__(
        self,
        reviews: Reviews,
        channels: Channels,
        directory: Directory,
        permissions: HomePermissions,
    ) -> None:
        self._reviews, self._directory, self._permissions = reviews, directory, permissions
        self._audiences = {channel.name: Cache(channel.audiences) for channel in channels}

    async def find(self, who: Reviewer) -> HomeCandidates:
        missing = set[int]()
        waiting = await self._load_waiting(await self._audience_keys(who), missing)
        own_requests = await self._load_waiting({f"requester:{key}" for key in who.keys}, missing)
        decided = await self._past_decisions(who, missing)
        mine, others, more = await self._split_waiting(
            who, waiting.reviews, [one for one, _ in own_requests.reviews], decided
        )
        more = more or waiting.total > len(waiting.reviews)
        return HomeCandidates(mine, others, decided, more, bool(missing))

    async def find_review_id(self, who: Reviewer, prefix: str) -> str:
        """The full id of a review by its first characters. The person must be concerned: the review waits for
        them, they requested it, or they voted on it. Raises Refused, ChannelError, StoreUnavailable.
        """
        prefix = prefix.strip().lower()
        if is_review_id(prefix):
            return prefix
        if not is_id_prefix(prefix):
            like = "An id looks like 0-93b4c7d2: at least four characters after the dash."
            raise Refused("no_id", f"{prefix!r} is not a review id. {like}")
        own = {f"requester:{key}" for key in who.keys}
        missing = set[int]()
        waiting = await self._load_waiting(await self._audience_keys(who) | own, missing)
        theirs = [*waiting.reviews, *await self._past_decisions(who, missing)]
        matches = {one for one, _ in theirs if one.startswith(prefix)}
        if len(matches) > 1:
            sentence = f"{len(matches)} of your reviews begin with {prefix}: give more characters of the id."
            raise Refused("ambiguous", sentence)
        if not matches and int(prefix.partition("-")[0]) in missing:
            raise StoreUnavailable(
                "The part of the store that has this review gives no answer now."
            )
        if not matches:
            sentence = (
                f"No review that waits for you, or that you decided, begins with {prefix}."
                f" Give the whole id: “hitl reviews show {prefix}” prints it."
            )
            raise Refused("gone", sentence)
        return matches.pop()

    async def _load_waiting(self, audiences: set[str], missing: set[int]) -> WaitingPage:
        """The reviews that wait for these audiences. If a reply of Redis is lost, it is asked again."""
        read = partial(self._reviews.store.waiting_reviews, audiences, MAX_WAITING, 0, missing)
        return await self._reviews.with_retry(read)

    async def _past_decisions(self, who: Reviewer, missing: set[int]) -> list[tuple[str, float]]:
        """The last reviews that this person decided or voted on, by any of their identities."""
        store, found = self._reviews.store, dict[str, float]()
        for key in who.keys:
            for one, at in await self._reviews.with_retry(
                partial(store.recent_decisions, key, MAX_DECIDED, 0, missing)
            ):
                found[one] = max(at, found.get(one, at))
        return sorted(found.items(), key=lambda one: (one[1], one[0]), reverse=True)[:MAX_DECIDED]

    async def _audience_keys(self, who: Reviewer) -> set[str]:
        """The index entries for all identities of this person; for guests and external people only their
        id.
        """
        keys = set[str]()
        for lookups, id in self._directory.identities(who):
            if await lookups.is_member(id):
                keys |= await self._audiences[lookups.channel.name].get(id, MAX_AGE)
            else:
                keys |= {f"user:{id}", f"user:{lookups.channel.name}:{id}"}
        return keys

    async def _split_waiting(
        self,
        who: Reviewer,
        submitted: Sequence[tuple[str, float]],
        own_requests: Sequence[str],
        past_decisions: Sequence[tuple[str, float]],
    ) -> tuple[list[str], list[str], bool]:
        """The reviews that wait for this person, those that wait only for others, and whether there may be
        more. Usually the index is enough; a review is loaded if this person requested it or may have voted.
        At most MAX_CHECKED are loaded; further ones are left out. `submitted`: what waits by the index, with
        the time of its submission.
        """
        waiting, unsure = [one for one, _ in submitted], {one for one, _ in past_decisions}
        unsure.update(own_requests)
        # Votes before the oldest of these are not known any more.
        if len(past_decisions) == MAX_DECIDED:
            oldest = past_decisions[-1][1]
            unsure.update(one for one, at in submitted if at <= oldest)
        unclear = [one for one in waiting if one in unsure]
        unread = set(unclear[MAX_CHECKED:])
        hidden = unread | await self._find_unwanted(who, unclear[:MAX_CHECKED])
        mine = [one for one in waiting if one not in hidden]
        known = unread.union(mine)
        others = [one for one in dict.fromkeys([*waiting, *own_requests]) if one not in known]
        return mine, others, bool(unread)

    async def _find_unwanted(self, who: Reviewer, ids: Iterable[str]) -> set[str]:
        """The reviews that don't wait for this person. Only a few are loaded at a time, without their
        arguments, because an agent chooses their number and size.
        """
        limit = asyncio.Semaphore(CONCURRENCY)

        async def is_unwanted(review_id: str) -> bool:
            async with limit:
                try:
                    snapshot = await self._reviews.load_outline(review_id)
                    return not await self._permissions.may_need_decision(who, snapshot)
                except (ReviewNotFound, ReviewUnreadable):
                    return False
                except (HitlError, ChannelError):
                    raise
                except Exception as error:  # the review is damaged: its Home says so
                    log.error("review %s can't be checked: %s", review_id, trace_of(error))
                    return False

        ids = list(ids)
        answers = await asyncio.gather(*map(is_unwanted, ids))
        return {one for one, unwanted in zip(ids, answers, strict=True) if unwanted}
