"""The names of all Redis keys. Names from outside are hashed, so that no id can forge a key."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache

_REVIEW_ID = re.compile(r"(0|[1-9][0-9]{0,3})-[0-9a-f]{32}")


def hash_of(*parts: str) -> str:
    """A hash of 128 bits, in hex. The parts are length-prefixed, so that different lists never collide."""
    return _hash_of_short(*parts) if sum(map(len, parts)) <= _SHORT else _hash(*parts)


def _hash(*parts: str) -> str:
    data = [part.encode("utf-8", "surrogatepass") for part in parts]
    text = b"".join([piece for each in data for piece in (len(each).to_bytes(8, "big"), each)])
    return hashlib.sha256(text).hexdigest()[:32]


#: Each write has the same names several times, and most writes have the same agent and places. Names can be
#: long, so only short ones are kept.
_SHORT = 500
_hash_of_short = lru_cache(maxsize=1024)(_hash)


def make_review_id(
    partition: int, agent: str, thread_id: str, turn: str, call_ids: Iterable[str]
) -> str:
    """The id of a turn's review, the same in any process: `<partition>-<32 hex digits>`."""
    return f"{partition}-{hash_of(agent, thread_id, turn, *call_ids)}"


def parse_partition(review_id: str) -> int | None:
    """The partition in a review id; None for any other text."""
    match = _REVIEW_ID.fullmatch(review_id)
    return int(match[1]) if match else None


def choose_partition(thread_id: str, partitions: int) -> int:
    return int(hash_of("partition", thread_id), 16) % partitions if partitions > 1 else 0


class Keys:
    """The keys of one partition. They share a hash tag: all keys of a script are in one cluster slot."""

    def __init__(self, partition: int) -> None:
        self.tag = f"hitl:{{{partition}}}"

    @property
    def due(self) -> str:
        return f"{self.tag}:due"

    @property
    def live_reviews(self) -> str:
        return f"{self.tag}:live"

    @property
    def history(self) -> str:
        return f"{self.tag}:history"

    @property
    def held(self) -> str:
        return f"{self.tag}:held"

    @property
    def confirmed(self) -> str:
        return f"{self.tag}:confirmed"

    @property
    def events(self) -> str:
        return f"{self.tag}:events"

    @property
    def queues(self) -> str:
        return f"{self.tag}:queues"

    @property
    def change_counts(self) -> str:
        return f"{self.tag}:changes"

    @property
    def job_starts(self) -> str:
        return f"{self.tag}:starts"

    def queue(self, lane: str) -> str:
        return f"{self.tag}:queue:{hash_of(lane)}"

    @property
    def dead_letters(self) -> str:
        return f"{self.tag}:dead"

    @property
    def dead_letter_counts(self) -> str:
        return f"{self.tag}:dead-counts"

    @property
    def audit(self) -> str:
        return f"{self.tag}:audit"

    @property
    def anchors(self) -> str:
        return f"{self.tag}:anchors"

    @property
    def last_export(self) -> str:
        return f"{self.tag}:exported"

    @property
    def policies(self) -> str:
        return f"{self.tag}:policies"

    def review(self, review_id: str) -> str:
        return f"{self.tag}:review:{review_id}"

    def digest(self, digest_id: str) -> str:
        return f"{self.tag}:digest:{digest_id}"

    def open_digest(self, lane: str, group: str) -> str:
        return f"{self.tag}:digest-open:{hash_of(lane, group)}"

    def thread(self, thread_id: str) -> str:
        return f"{self.tag}:thread:{hash_of(thread_id)}"

    def thread_lock(self, agent: str, thread_id: str) -> str:
        return f"{self.tag}:lock:{hash_of(agent, thread_id)}"

    def rejected_calls(self, agent: str, thread_id: str) -> str:
        return f"{self.tag}:rejected:{hash_of(agent, thread_id)}"

    def agent(self, agent: str) -> str:
        return f"{self.tag}:agent:{hash_of(agent)}"

    def ready(self, agent: str) -> str:
        return f"{self.tag}:ready:{hash_of(agent)}"

    def waiting(self, audience: str) -> str:
        return f"{self.tag}:waiting:{hash_of(audience)}"

    def decisions(self, reviewer: str) -> str:
        return f"{self.tag}:decided:{hash_of(reviewer)}"


#: The number of partitions, kept permanently.
META_KEY = "hitl:meta"
#: The tokens of the HTTP API, by id: kept until they are revoked.
TOKENS_KEY = "hitl:tokens"
#: Who opened the app's home page in the last hour, and when.
HOMES_KEY = "hitl:homes"


def alive_key(process: str) -> str:
    return f"hitl:alive:{hash_of(process)}"


def lock_key(name: str) -> str:
    return f"hitl:lock:{hash_of(name)}"


def lane_key(name: str) -> str:
    """Its value is the bot that holds this lane."""
    return f"hitl:lane:{hash_of(name)}"


def slot_key(name: str) -> str:
    return f"hitl:slot:{hash_of(name)}"


def channel_key(channel: str) -> str:
    """What a channel keeps about itself. A channel's name has no characters that could forge a key."""
    return f"hitl:channel:{channel}"


def temporary_key(key: str) -> str:
    return f"hitl:temporary:{hash_of(key)}"
