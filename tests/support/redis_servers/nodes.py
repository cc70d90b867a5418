"""What a Redis Cluster and a Sentinel set share in tests: ports, a client for one node, waiting."""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis

from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.demo.ports import find_free_ports
from tests.support.processes.certificates import Certificates

#: The seconds that the servers may take to start or to fail over: less than the time limit of a test, so that
#: its failure says what is missing.
PATIENCE = 90.0
#: Settings of each server that has or is a replica: nothing on the disk, and replicas follow at once.
REPLICATED = {
    "appendonly": "no",
    "save": "",
    "maxmemory-policy": "noeviction",
    "repl-diskless-sync": "yes",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",  # a replica is listed only after its master pinged it
}


class Servers(ABC):
    """Servers that run while the block runs. `tls_ports`: one for each node, where clients and the other
    nodes use TLS; `nodes` can still be reached without it.
    """

    nodes: list[EmbeddedRedis]

    def __init__(self, tls: Certificates | None, count: int) -> None:
        """`count`: of all servers that may need a port for TLS."""
        self.tls, self.tls_ports = tls, find_free_ports(count) if tls else []

    def start(self) -> None:
        """Returns when all servers work together."""
        try:
            for node in self.nodes:
                node.start()
            self.connect_nodes()
            self.wait_until_whole()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()

    @abstractmethod
    def connect_nodes(self) -> None:
        """Let the running nodes know each other."""

    @abstractmethod
    def wait_until_whole(self) -> None: ...

    def make_nodes(
        self,
        folder: Path,
        ports: Sequence[int],
        executable: Path | None,
        settings: Mapping[str, str],
    ) -> list[EmbeddedRedis]:
        """A node for each port, which is not started yet."""
        return [
            EmbeddedRedis(
                folder / f"node-{n}",
                port=port,
                executable=executable,
                settings={**REPLICATED, **settings, **self.tls_settings(n)},
            )
            for n, port in enumerate(ports)
        ]

    def tls_settings(self, n: int) -> dict[str, str]:
        return self.tls.settings(self.tls_ports[n]) if self.tls else {}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.stop()


def connect(node: EmbeddedRedis) -> Any:
    """A client of one node. `execute_command("CLUSTER", "SLOTS")` returns the reply without changes."""
    return redis.Redis.from_url(node.url, socket_timeout=5, protocol=2)


def port_of(node: EmbeddedRedis) -> int:
    return int(address_of(node).rpartition(":")[2])


def address_of(node: EmbeddedRedis) -> str:
    return node.url.removeprefix("redis://").partition("/")[0]


def wait_for(what: str, is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(redis.RedisError):
            if is_so():
                return
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {PATIENCE:.0f} s")
        time.sleep(0.05)
