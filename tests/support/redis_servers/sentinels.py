"""A master, its replicas and three Sentinels on this machine, which tests kill and start again."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from redis import Redis

from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.demo.ports import find_free_ports
from slack_sandbox.demo.redis_binary import find_redis_server
from tests.support.processes.certificates import Certificates
from tests.support.redis_servers.nodes import (
    Servers,
    address_of,
    connect,
    port_of,
    wait_for,
)

#: The name under which the Sentinels know the master.
NAME = "hitl"
#: If the master is silent for this long, a replica is promoted. Long enough for a busy machine.
DOWN_AFTER_MS = 5000


class RedisSentinels(Servers):
    """`with RedisSentinels(folder) as sentinels:` and use `sentinels.url`.

    `kill_master()` ends the master and returns it; `wait_until_whole()` returns when there is one again.
    `settings` are redis.conf directives of each server: `appendonly` and the like. With `tls` the URL and
    the servers use TLS; `nodes` can still be reached without it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        replicas: int = 1,
        sentinels: int = 3,
        executable: Path | None = None,
        settings: Mapping[str, str] | None = None,
        down_after_ms: int = DOWN_AFTER_MS,
        tls: Certificates | None = None,
    ) -> None:
        self._folder, self._executable, self._down_after_ms = folder, executable, down_after_ms
        ports = find_free_ports(1 + replicas + sentinels)
        super().__init__(tls, len(ports))
        self.nodes = self.make_nodes(folder, ports[: 1 + replicas], executable, settings or {})
        self.sentinel_ports = ports[1 + replicas :]
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        ports = self.tls_ports[len(self.nodes) :] if self.tls else self.sentinel_ports
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        if self.tls:
            return f"rediss+sentinel://{hosts}/{NAME}?{self.tls.query}"
        return f"redis+sentinel://{hosts}/{NAME}"

    def connect_nodes(self) -> None:
        """Let the replicas follow the master, and start the Sentinels."""
        for replica in self.nodes[1:]:
            self.follow(replica, self.nodes[0])
        self._processes = [
            self._start_sentinel(n, port)
            for n, port in enumerate(self.sentinel_ports, start=len(self.nodes))
        ]

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        super().stop()

    @property
    def pids(self) -> list[int | None]:
        """The processes of all servers and Sentinels."""
        return [*(node.pid for node in self.nodes), *(each.pid for each in self._processes)]

    def flush(self) -> None:
        """Delete all keys."""
        with connect(self.master()) as client:
            client.flushall()

    def configure(self, name: str, value: str | int) -> None:
        """Change a setting that the Sentinels have for this master, such as `down-after-milliseconds`."""
        for port in self.sentinel_ports:
            with _client(port) as client:
                client.execute_command("SENTINEL", "SET", NAME, name, value)

    def follow(self, replica: EmbeddedRedis, master: EmbeddedRedis) -> None:
        host, _, _ = address_of(master).partition(":")
        port = self._port_of(self.nodes.index(master))
        with connect(replica) as client:
            client.execute_command("REPLICAOF", host, port)

    def master(self) -> EmbeddedRedis:
        """The master, as the first Sentinel says."""
        with _client(self.sentinel_ports[0]) as client:
            _, port = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)
        return self._node_at(int(port))

    def kill_master(self) -> EmbeddedRedis:
        """kill -9 of the master. `start()` of what it returns, and the Sentinels make it a replica."""
        node = self.master()
        node.kill()
        return node

    def wait_until_whole(self) -> None:
        """Waits until all Sentinels agree on a running master, and all other running servers follow it."""
        wait_for("the Sentinels agree", lambda: all(map(self._is_whole, self.sentinel_ports)))

    def wait_for_master(self) -> None:
        """Waits until the first Sentinel names a running master."""
        wait_for("there is a master", lambda: self.master().pid is not None)

    def _is_whole(self, port: int) -> bool:
        with _client(port) as client:
            master = _pairs(client.execute_command("SENTINEL", "MASTER", NAME))
        node = self._node_at(int(master["port"]))
        if node.pid is None or master["flags"] != "master":
            return False
        if int(master["num-other-sentinels"]) < len(self.sentinel_ports) - 1:
            return False
        with connect(node) as client:
            told: dict[str, Any] = client.info("replication")
        linked = [
            each for key, each in told.items() if key.startswith("slave") and key[5:].isdigit()
        ]
        online = {each["port"] for each in linked if each["state"] == "online"}
        others = (
            n for n, each in enumerate(self.nodes) if each.pid is not None and each is not node
        )
        return told["role"] == "master" and online == set(map(self._port_of, others))

    def _port_of(self, n: int) -> int:
        """The port that clients and the other servers use."""
        return self.tls_ports[n] if self.tls else port_of(self.nodes[n])

    def _node_at(self, port: int) -> EmbeddedRedis:
        return next(node for n, node in enumerate(self.nodes) if self._port_of(n) == port)

    def _start_sentinel(self, n: int, port: int) -> subprocess.Popen[bytes]:
        folder = self._folder / f"sentinel-{port}"
        folder.mkdir(parents=True)
        config = folder / "sentinel.conf"  # a Sentinel writes to its configuration file
        quorum = len(self.sentinel_ports) // 2 + 1
        lines = [
            f"port {port}",
            "bind 127.0.0.1",
            f"dir {folder}",
            "logfile sentinel.log",
            f"sentinel monitor {NAME} 127.0.0.1 {self._port_of(0)} {quorum}",
            f"sentinel down-after-milliseconds {NAME} {self._down_after_ms}",
            f"sentinel failover-timeout {NAME} 10000",
            *(f"{name} {value}" for name, value in self.tls_settings(n).items()),
        ]
        config.write_text("\n".join(lines) + "\n")
        return subprocess.Popen(
            [self._executable or find_redis_server(), config, "--sentinel"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _client(port: int) -> Any:
    return Redis(port=port, socket_timeout=5, protocol=2)


def _pairs(flat: Any) -> dict[str, str]:
    texts = [each.decode() for each in flat]
    return dict(zip(texts[::2], texts[1::2], strict=True))
