"""The store in Redis. Every write is one script, and all keys of a thread are in one cluster slot."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain

from hitl_core.errors import SettingsError, StoreError, StoreUnwritable
from hitl_core.store.redis.connection import (
    Client,
    StartWarning,
    check_server,
    close_clients,
    connect,
    find_warnings,
    parse_redis_url,
    read_redis_url,
    store_errors,
)
from hitl_core.store.redis.fields import text_of
from hitl_core.store.redis.foreign_keys import RedisForeignKeys
from hitl_core.store.redis.key_values import (
    RedisChannelData,
    RedisCoordination,
    RedisTemporaryValues,
    RedisTokens,
)
from hitl_core.store.redis.keys import META_KEY, Keys
from hitl_core.store.redis.ledger import RedisAuditedFields
from hitl_core.store.redis.queues import RedisDeadLetters, RedisDigests, RedisHints, RedisLanes
from hitl_core.store.redis.review_lists import RedisReviewLists
from hitl_core.store.redis.reviews import RedisReviews
from hitl_core.store.redis.scripts import script_commands

log = logging.getLogger(__name__)

#: The default number of partitions in a Redis Cluster. All of them fit on a few masters.
CLUSTER_PARTITIONS = 16
DEFAULT_RETENTION = 30 * 24 * 3600.0
#: Redis refuses an expiry that is too long, and a shorter one than a millisecond deletes at once.
MIN_RETENTION, MAX_RETENTION = 0.001, 10_000 * 24 * 3600.0
#: A review's id has at most four digits for its partition.
MAX_PARTITIONS = 10_000


def read_wait_replicas(environment: Mapping[str, str]) -> int:
    """Raises SettingsError."""
    text = environment.get("HITL_REDIS_WAIT_REPLICAS", "").strip() or "0"
    if not re.fullmatch("[0-9]{1,2}", text):
        raise SettingsError(
            f"HITL_REDIS_WAIT_REPLICAS is {text!r}; it must be a number of replicas, from 0 to 99."
        )
    return int(text)


class RedisStore(
    RedisReviews,
    RedisAuditedFields,
    RedisReviewLists,
    RedisHints,
    RedisLanes,
    RedisDeadLetters,
    RedisDigests,
    RedisCoordination,
    RedisTokens,
    RedisChannelData,
    RedisTemporaryValues,
    RedisForeignKeys,
):
    """See `Store` for the methods. Open one with `await RedisStore.open(url)`."""

    def __init__(self, redis: Client, reader: Client, partitions: int, retention: float) -> None:
        keys = [Keys(partition) for partition in range(partitions)]
        super().__init__(redis, reader, keys, retention)
        self.partitions = partitions
        #: What is unsafe about the server: warnings for operators.
        self.warnings: tuple[StartWarning, ...] = ()

    @classmethod
    async def open(
        cls,
        url: str | None = None,
        *,
        partitions: int | None = None,
        retention: float | None = None,
        set_partitions: bool = True,
        wait_replicas: int | None = None,
    ) -> RedisStore:
        """Connect and check the server. `url`: None uses HITL_REDIS_URL of the environment, or else
        `redis://localhost:6379/0`. `retention`, in seconds, is how long done reviews and exported audit
        entries are kept, at first 30 days. A process that passes it sets it for all processes; the others
        read it at their start.

        The first process sets the number of `partitions` permanently (by default 1, and 16 in a Redis
        Cluster); None uses the stored number. A process that only reads passes `set_partitions=False`: then
        an empty Redis stays empty. `wait_replicas`: see `ReviewStore.confirm`; None uses
        HITL_REDIS_WAIT_REPLICAS of the environment.
        Raises SettingsError for a server that could lose reviews, or that has another number of partitions;
        StoreUnavailable when Redis doesn't answer.
        """
        if partitions is not None and not 0 < partitions <= MAX_PARTITIONS:
            raise SettingsError(
                f"partitions is {partitions}; it must be a number from 1 to {MAX_PARTITIONS}."
            )
        parsed = read_redis_url(os.environ) if url is None else parse_redis_url(url)
        default = CLUSTER_PARTITIONS if parsed.kind == "cluster" else 1
        if retention is not None and not MIN_RETENTION <= retention <= MAX_RETENTION:
            raise SettingsError(
                f"retention is {retention} s; it must be from a millisecond to 10,000 days."
            )
        redis, reader = connect(parsed), connect(parsed, blocking=True)
        try:
            await check_server(redis, parsed)
            async with store_errors():
                # Connect now, because a read that is cancelled while it connects would leave its socket open
                # (redis-py with Python 3.11). Not with PING: Redis refuses that while it can't save.
                await reader.time()
            fixed = await _agree_on_partitions(redis, partitions, default, set_partitions)
            kept_for = await _agree_on_retention(redis, retention)
            store = cls(redis, reader, fixed, kept_for)
            store.wait_replicas = (
                read_wait_replicas(os.environ) if wait_replicas is None else wait_replicas
            )
            await store._check_start(set_partitions)
        except BaseException:
            await close_clients(redis, reader)
            raise
        return store

    async def _check_start(self, is_writer: bool) -> None:
        """Check what must be known before the first command. Raises SettingsError, StoreUnavailable."""
        await self._server_change.open(may_write=is_writer)
        if is_writer:
            await self._check_permissions()
            self.warnings = await find_warnings(self._redis)
            for warning in self.warnings:
                log.warning("%s", warning.text)
            with suppress(StoreUnwritable):  # the next check does it
                await self.check_history()

    async def _check_permissions(self) -> None:
        """Raises SettingsError if the user may not execute a command of the scripts: a script that fails
        after its first write would store a decision without its entry of the audit.
        """

        async def find(partition: int) -> list[bytes]:
            key = self._keys[partition].history  # it leads to the server of the partition
            return await self._run_script("forbidden_commands", [key], sorted(script_commands()))

        found = sorted({text_of(each) for each in chain(*await self._ask_each(find))})
        if found:
            raise SettingsError(
                f"Redis does not permit {', '.join(found)} to the user of the URL. docs/redis.md, ACL"
                " users, has the permissions that are needed."
            )

    async def close(self) -> None:
        await self._close_topics()
        await close_clients(self._redis, self._reader)


async def _agree_on_partitions(
    redis: Client, given: int | None, default: int, may_write: bool
) -> int:
    """The number of partitions of all processes: the stored one; without one the given number, which is then
    stored. Raises SettingsError if the given number is another one.
    """
    async with store_errors():
        known = await redis.hget(META_KEY, "partitions")
        # Read before writing: a full Redis refuses every write, even of the same value.
        if known is None and may_write:
            await redis.hsetnx(META_KEY, "partitions", str(given or default))
            known = await redis.hget(META_KEY, "partitions")
    fixed = (given or default) if known is None else _read_partitions(known)
    if given not in (None, fixed):
        raise SettingsError(
            f"This Redis has {fixed} partitions, and the setting says {given}. The number can't be changed:"
            f" set it to {fixed}, or use another Redis."
        )
    return fixed


async def _agree_on_retention(redis: Client, given: float | None) -> float:
    """The retention of all processes, in seconds: the given one, which is then stored, or the stored one."""
    async with store_errors():
        stored = await redis.hget(META_KEY, "retention")
    known = _read_retention(stored)
    if given is None or given == known:
        return known
    with suppress(StoreUnwritable):  # a full Redis must not stop a start: the next one stores it
        async with store_errors():
            await redis.hset(META_KEY, "retention", str(given))
    return given


def _read_partitions(stored: bytes) -> int:
    """Raises StoreError: with another number no review would be found."""
    if re.fullmatch(rb"[1-9][0-9]{0,4}", stored) and int(stored) <= MAX_PARTITIONS:
        return int(stored)
    text = stored.decode("utf-8", "replace")
    raise StoreError(
        f"The number of partitions in Redis can't be read: {text!r}. It is damaged, or another program wrote"
        " it. Set the number that it had (1, or 16 in a Redis Cluster, unless you chose another):"
        " HSET hitl:meta partitions NUMBER"
    )


def _read_retention(stored: bytes | None) -> float:
    """The default for a value that can't be read. The next bot that starts writes it again."""
    try:
        seconds = float(stored or b"")
    except ValueError:
        return DEFAULT_RETENTION
    return seconds if MIN_RETENTION <= seconds <= MAX_RETENTION else DEFAULT_RETENTION
