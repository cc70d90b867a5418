"""Three masters and three replicas of a Redis Cluster on this machine, which tests kill and start again."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from redis import ReadOnlyError
from redis.crc import key_slot

from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.demo.ports import find_free_ports
from slack_sandbox.demo.redis_binary import EmbeddedRedisError
from tests.support.processes.certificates import Certificates
from tests.support.redis_servers.nodes import (
    PATIENCE,
    Servers,
    address_of,
    connect,
    port_of,
    wait_for,
)

#: If a node is silent for this long, its replica takes over. Long enough for a busy machine.
NODE_TIMEOUT_MS = 5000
MASTERS = 3


class RedisCluster(Servers):
    """`with RedisCluster(folder) as cluster:` and use `cluster.url`.

    `kill_master(key)` ends the node that has this key and returns it; `wait_until_whole()` returns when each
    slot has a master again. `settings` are redis.conf directives of each node: `appendonly` and the like.
    With `tls` the URL and the nodes use TLS; `nodes` can still be reached without it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        replicas: int = 1,
        executable: Path | None = None,
        settings: Mapping[str, str] | None = None,
        node_timeout_ms: int = NODE_TIMEOUT_MS,
        tls: Certificates | None = None,
    ) -> None:
        self._replicas, count = replicas, MASTERS * (1 + replicas)
        super().__init__(tls, count)
        chosen = {
            **(settings or {}),
            "cluster-enabled": "yes",
            "cluster-node-timeout": str(node_timeout_ms),
            "cluster-replica-validity-factor": "0",  # a replica that lagged may take over as well
            "cluster-require-full-coverage": "no",  # the other masters continue
        }
        self.nodes = self.make_nodes(folder, find_free_ports(count), executable, chosen)

    @property
    def url(self) -> str:
        if self.tls:
            return f"rediss+cluster://{','.join(self._addresses())}?{self.tls.query}"
        return f"redis+cluster://{','.join(self._addresses())}"

    @property
    def pids(self) -> list[int | None]:
        """The processes of all nodes."""
        return [node.pid for node in self.nodes]

    def flush(self) -> None:
        """Delete all keys."""
        for node in self.running():
            with connect(node) as client, contextlib.suppress(ReadOnlyError):  # from replicas
                client.flushall()

    def configure(self, name: str, value: str | int) -> None:
        """Change a setting of all nodes that run."""
        for node in self.running():
            with connect(node) as client:
                client.config_set(name, value)

    def running(self) -> list[EmbeddedRedis]:
        return [node for node in self.nodes if node.pid is not None]

    def masters(self) -> list[EmbeddedRedis]:
        """The running nodes that have slots."""
        return [node for node in self.running() if _has_slots(node)]

    def master_of(self, key: str) -> EmbeddedRedis:
        """The node that has this key now."""
        slot = key_slot(key.encode())
        for node in self.running():
            with connect(node) as client:
                for first, last, owner, *_ in client.execute_command("CLUSTER", "SLOTS"):
                    if first <= slot <= last:
                        return next(n for n in self.nodes if port_of(n) == owner[1])
        raise AssertionError(f"no node has {key}")

    def replica_of(self, master: EmbeddedRedis) -> EmbeddedRedis:
        for node in self.running():
            with connect(node) as client:
                if client.info("replication").get("master_port") == port_of(master):
                    return node
        raise AssertionError("it has no replica")

    def kill_master(self, key: str) -> EmbeddedRedis:
        """kill -9 of the node that has this key. `start()` of what it returns makes it a replica."""
        node = self.master_of(key)
        node.kill()
        return node

    def wait_until_whole(self) -> None:
        """Waits until all running nodes accept commands and agree on a running master for each slot, and all
        replicas are linked.
        """
        wait_for("the cluster is whole", lambda: all(map(self._sees_all, self.running())))

    def _sees_all(self, node: EmbeddedRedis) -> bool:
        ports = {port_of(each) for each in self.running()}
        with connect(node) as client:
            slots: list[Any] = client.execute_command("CLUSTER", "SLOTS")
            state: bytes = client.execute_command("CLUSTER", "INFO")
            covered = sum(last - first + 1 for first, last, *_ in slots)
            linked: dict[str, Any] = client.info("replication")
        owners = {owner[1] for _, _, owner, *_ in slots}
        known = {each[1] for _, _, *all_of_slot in slots for each in all_of_slot}
        return (
            covered == 16384
            and b"cluster_state:ok" in state
            and owners <= ports
            and ports <= known
            and linked.get("master_link_status", "up") == "up"
        )

    def _addresses(self) -> list[str]:
        """The addresses of the nodes, as clients and the other nodes know them."""
        if self.tls:
            return [f"127.0.0.1:{port}" for port in self.tls_ports]
        return [address_of(node) for node in self.nodes]

    def tls_settings(self, n: int) -> dict[str, str]:
        return {**super().tls_settings(n), "tls-cluster": "yes"} if self.tls else {}

    def connect_nodes(self) -> None:
        """Give each master its slots and its replicas."""
        cli = shutil.which("redis-cli")
        if cli is None:
            raise EmbeddedRedisError(
                "redis-cli is not on the PATH (Debian: apt install redis-tools)."
            )
        words = [cli, "--cluster", "create", *self._addresses()]
        if self.tls:
            words[1:1] = ["--tls", "--cacert", str(self.tls.folder / "ca.crt")]
        words += ["--cluster-replicas", str(self._replicas), "--cluster-yes"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)
        if done.returncode:
            raise EmbeddedRedisError(f"No cluster was created: {done.stdout}{done.stderr}")


def _has_slots(node: EmbeddedRedis) -> bool:
    with connect(node) as client:
        mine = client.execute_command("CLUSTER", "MYID").decode()
        lines = client.execute_command("CLUSTER", "NODES").decode().splitlines()
    return any(line.startswith(mine) and len(line.split()) > 8 for line in lines)
