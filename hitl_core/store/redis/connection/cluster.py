"""A client of a Redis Cluster: each command goes to the node that has its key, over a client of that node.

redis-py's `RedisCluster` only reads the map of the slots here. As a client (8.1) it raises an error where a
command should wait for a free connection, connects again after it was closed, sends ASKING and the command
over different connections, and takes no scripts in pipelines.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, cast

from redis.asyncio import Redis
from redis.commands import AsyncCoreCommands
from redis.exceptions import (
    AskError,
    ClusterDownError,
    ConnectionError,
    MovedError,
    NoScriptError,
    RedisError,
    TimeoutError,
    TryAgainError,
)

from hitl_core.errors import StoreError
from hitl_core.store.redis.connection.pool import NO_CONNECTION
from hitl_core.store.redis.connection.slot_map import Address, SlotMap

#: How often one command is sent again to another node, before it fails.
MAX_REDIRECTS = 8
#: The pause before a command whose slot is being moved is sent again, in seconds. Later pauses are longer.
_TRY_AGAIN_DELAY = 0.02


class ClusterClient(AsyncCoreCommands):
    """Executes commands whose keys are in one slot. A command without a key: see `SlotMap.node_of`. A command
    is sent again only if a node refused it without executing it.
    """

    _event_dispatcher: Any = None  # redis-py's commands ask for one

    def __init__(self, slots: SlotMap, make_client: Callable[[str, int], Redis]) -> None:
        self._slots, self._make_client = slots, make_client
        self._clients: dict[Address, Redis] = {}
        self._scripts: dict[str, str] = {}
        self._closed = False

    def register_script(self, script: Any) -> Any:
        return _Script(self, self._scripts, script)

    def pipeline(self, transaction: bool = False) -> Pipeline:
        """The commands of one slot keep their order. There are no transactions: use a script."""
        if transaction:
            raise ValueError("A transaction must be a script: it can't span nodes.")
        return Pipeline(self)

    async def is_away(self, key: str) -> bool:
        return await self._slots.is_away(key)

    async def client_of(self, key: str) -> Redis:
        """A client of the node that has this key, for SCAN, which follows no slot that was moved."""
        await self.execute_command("EXISTS", key)  # a node that has it no more says so
        return self._client(await self._slots.node_of(key))

    async def masters(self) -> list[Redis]:
        """A client of each master."""
        return [self._client(each) for each in await self._slots.masters()]

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        return await self._follow(await self._slots.node_of(_key_of(args)), None, args, options)

    async def execute_both(self, first: Sequence[Any], then: Sequence[Any]) -> Any:
        """See `server.execute_both`. The node is that of the first command's key."""
        return await self._follow(await self._slots.node_of(_key_of(first)), None, first, {}, then)

    async def send_batch(self, commands: Sequence[tuple[Any, dict[str, Any]]]) -> list[Any]:
        """The replies, or errors, of these commands. One node gets all of its commands at once."""
        by_node: dict[Address, list[int]] = {}
        for n, (args, _) in enumerate(commands):
            by_node.setdefault(await self._slots.node_of(_key_of(args)), []).append(n)
        replies: list[Any] = [None] * len(commands)

        async def send(address: Address, numbers: list[int]) -> None:
            pipe: Any = self._client(address).pipeline(transaction=False)
            async with pipe:
                for n in numbers:
                    args, options = commands[n]
                    pipe.execute_command(*args, **options)
                try:
                    answers = await pipe.execute(raise_on_error=False)
                except (ConnectionError, TimeoutError, OSError) as error:
                    self._lose(address, error)
                    raise
            for n, answer in zip(numbers, answers, strict=True):
                if isinstance(answer, AskError | TryAgainError | NoScriptError):
                    answer = await self._follow(address, answer, *commands[n])
                replies[n] = answer

        work = [send(address, numbers) for address, numbers in by_node.items()]
        for failure in await asyncio.gather(*work, return_exceptions=True):
            if isinstance(failure, BaseException):
                raise failure
        return replies

    async def aclose(self) -> None:
        self._closed = True
        clients = list(self._clients.values())
        await asyncio.gather(*(client.aclose() for client in clients), return_exceptions=True)
        await self._slots.aclose()

    async def _follow(
        self,
        address: Address,
        refusal: RedisError | None,
        args: Sequence[Any],
        options: dict[str, Any],
        then: Sequence[Any] = (),
    ) -> Any:
        """Send a command, and again to the node that a refusal names. `refusal`: of an earlier try. `then`: a
        second command for the same connection.
        """
        asking, delay = False, _TRY_AGAIN_DELAY
        for _ in range(MAX_REDIRECTS):
            match refusal:
                case MovedError():
                    self._slots.forget()
                    address, asking = _target(refusal, address), False
                case AskError():
                    address, asking = _target(refusal, address), True
                case TryAgainError():
                    await asyncio.sleep(delay)
                    delay *= 2
                case NoScriptError() if str(args[1]) in self._scripts:
                    args = ("EVAL", self._scripts[str(args[1])], *args[2:])
                case None:
                    pass
                case _:
                    raise refusal
            try:
                return await self._send(address, asking, args, options, then)
            except (AskError, TryAgainError, NoScriptError) as error:
                refusal = error
            except ClusterDownError:
                self._slots.forget()
                raise
            except (ConnectionError, TimeoutError, OSError) as error:
                self._lose(address, error)
                raise
        raise TryAgainError("The slot is being moved.")

    async def _send(
        self,
        address: Address,
        asking: bool,
        args: Sequence[Any],
        options: dict[str, Any],
        then: Sequence[Any],
    ) -> Any:
        client: Any = self._client(address)
        if not asking and not then:
            return await client.execute_command(*args, **options)
        async with client.pipeline(transaction=False) as pipe:  # over one connection
            if asking:
                pipe.execute_command("ASKING")
            pipe.execute_command(*args, **options)
            if then:
                pipe.execute_command(*then)
            replies = (await pipe.execute(raise_on_error=False))[asking:]
        for failure in (reply for reply in replies if isinstance(reply, Exception)):
            raise failure
        return replies if then else replies[-1]

    def _client(self, address: Address) -> Redis:
        if self._closed:
            raise StoreError("The store is closed.")
        if address not in self._clients:
            self._clients[address] = self._make_client(*address)
        return self._clients[address]

    def _lose(self, address: Address, error: BaseException) -> None:
        """Called when a node didn't answer: another node may have its slots by now."""
        if str(error) != NO_CONNECTION:
            self._slots.forget(address)


class Pipeline(AsyncCoreCommands):
    """Commands for several nodes, sent together."""

    _event_dispatcher: Any = None

    def __init__(self, cluster: ClusterClient) -> None:
        self._cluster = cluster
        self._commands: list[tuple[Any, dict[str, Any]]] = []

    async def __aenter__(self) -> Pipeline:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._commands.clear()

    def execute_command(self, *args: Any, **options: Any) -> Any:
        self._commands.append((args, options))
        return self

    async def execute(self) -> list[Any]:
        replies = await self._cluster.send_batch(self._commands)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies


class _Script:
    """Like redis-py's script: EVALSHA. A node that doesn't know the script gets its text."""

    def __init__(self, cluster: ClusterClient, texts: dict[str, str], text: str) -> None:
        self._cluster = cluster
        self.sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        texts[self.sha] = text

    async def __call__(
        self, keys: Sequence[str] = (), args: Sequence[Any] = (), client: Pipeline | None = None
    ) -> Any:
        words = ("EVALSHA", self.sha, len(keys), *keys, *args)
        if client is not None:
            return client.execute_command(*words)
        return await self._cluster.execute_command(*words)


def _key_of(args: Sequence[Any]) -> str:
    """The first key of a command; "" if it has none."""
    match str(args[0]).upper():
        case "EVALSHA" | "EVAL":
            return str(args[3])
        case "XREAD":
            words = [each.decode() if isinstance(each, bytes) else each for each in args]
            return str(words[words.index("STREAMS") + 1])
        case "TIME" | "INFO" | "PING" | "CONFIG GET":
            return ""
        case _:
            return args[1] if isinstance(args[1], str) else bytes(args[1]).decode()


def _target(refusal: AskError, address: Address) -> Address:
    """The address in the refusal. An empty host means the node that answered."""
    return str(cast(Any, refusal).host) or address[0], int(refusal.port)
