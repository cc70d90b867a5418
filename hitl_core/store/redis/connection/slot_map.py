"""Which node of a Redis Cluster has which key."""

from __future__ import annotations

import asyncio
import time
from typing import Any, NoReturn, cast

from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.exceptions import (
    ClusterDownError,
    RedisClusterException,
    RedisError,
    SlotNotCoveredError,
)

from hitl_core.store.redis.connection.causes import causes
from hitl_core.store.redis.connection.url import RedisUrl
from hitl_core.store.redis.keys import META_KEY
from hitl_core.tasks import run_to_end

#: The host and port of a node.
Address = tuple[str, int]
#: For how many seconds a node that gave no answer counts as lost, so that not each command waits for it.
KEEP_LOST = 2.0
#: The options of a URL that redis-py's cluster client takes too, beside those of TLS.
_OPTIONS = ("username", "password", "client_name")


class SlotMap:
    """redis-py's `RedisCluster` reads the map, and this class keeps it until a node says that it is old.

    Raises redis-py's errors: ConnectionError if no node answers.
    """

    def __init__(self, url: RedisUrl, **options: Any) -> None:
        wanted = {
            key: each
            for key, each in url.options.items()
            if key in _OPTIONS or key.startswith("ssl_")
        }
        self._options = {**options, **wanted, "ssl": url.has_tls, "require_full_coverage": False}
        self._hosts = self._first = url.hosts
        self._map: Any = None
        self._refreshing: asyncio.Task[None] | None = None
        #: When a node gave no answer, by `time.monotonic`.
        self._lost_at: dict[Address, float] = {}

    def forget(self, silent: Address | None = None) -> None:
        """Mark the map as old: the next look-up reads it again. `silent`: a node that gave no answer."""
        self._map = None
        if silent is not None:
            self._lost_at[silent] = time.monotonic()

    def is_lost(self, node: Address) -> bool:
        """Whether this node gave no answer a moment ago."""
        return time.monotonic() - self._lost_at.get(node, -KEEP_LOST) < KEEP_LOST

    async def is_away(self, key: str) -> bool:
        """Whether no node has this key, or the one that has it gave no answer a moment ago."""
        try:
            return self.is_lost(await self.node_of(key))
        except ClusterDownError:
            return True

    async def node_of(self, key: str | bytes) -> Address:
        """The master that has this key. Without a key that of `META_KEY`, so that TIME comes from one clock;
        if that is lost, another one. Raises ClusterDownError if none has the key.
        """
        slots = await self._read()
        if not key and self.is_lost(first := await self.node_of(META_KEY)):
            return min([first, *await self.masters()], key=self.is_lost)
        try:
            node = slots.get_node_from_key(key or META_KEY)
        except SlotNotCoveredError:
            node = None
        if node is None:
            self.forget()
            raise ClusterDownError("No node of the cluster has this slot.")
        return str(node.host), int(node.port)

    async def masters(self) -> list[Address]:
        slots = await self._read()
        return sorted((str(node.host), int(node.port)) for node in slots.get_primaries())

    async def aclose(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)

    async def _read(self) -> Any:
        """The map. Tasks that need a new one wait for one shared task, which none of them cancels."""
        while self._map is None:
            if self._refreshing is None or self._refreshing.done():
                self._refreshing = asyncio.create_task(self._refresh())
                # Retrieved, because asyncio warns about exceptions that nobody retrieved.
                self._refreshing.add_done_callback(
                    lambda task: task.cancelled() or task.exception()
                )
            await asyncio.shield(self._refreshing)
        return self._map

    async def _refresh(self) -> None:
        known = [each for each in self._first if not self.is_lost(each)] or list(self._first)
        slots = cast(Any, RedisCluster)(
            startup_nodes=[ClusterNode(*each) for each in known], **self._options
        )
        try:
            # Without COMMAND, which only `execute_command` needs.
            await slots.nodes_manager.initialize()
        except RedisClusterException as error:
            _raise_cause(error)
        finally:
            # To its end, also if the store closes meanwhile. The map stays readable.
            nodes = [slots.nodes_manager.aclose(each) for each in ("nodes_cache", "startup_nodes")]
            await run_to_end(asyncio.gather(*nodes, return_exceptions=True))
        nodes = [(str(node.host), int(node.port)) for node in slots.get_nodes()]
        # Not the nodes of earlier maps: each that is gone would cost a second where all addresses change.
        self._first = tuple(dict.fromkeys([*nodes, *self._hosts]))
        self._map = slots


def _raise_cause(error: RedisClusterException) -> NoReturn:
    """Raise the inner error, of Redis or of the network: it says more, and `store_errors` knows it."""
    found = [each for each in causes(error) if isinstance(each, RedisError | OSError)]
    raise found[-1] if found else ConnectionError(str(error)) from None
