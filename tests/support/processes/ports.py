"""Free ports for servers that must know their port before they start."""

from __future__ import annotations

import random
import socket

#: Below the ports that the system gives to clients. The cluster bus of a node uses its port plus 10,000.
_PORTS = range(12_000, 22_000)


def free_ports(count: int) -> list[int]:
    """Free ports. Each port plus 10,000 is free, too, for the bus of a Redis Cluster's node."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.choice(_PORTS)
        if port not in ports and _is_free(port) and _is_free(port + 10_000):
            ports.append(port)
    return ports


def free_port_before_another() -> int:
    """A free port of which the next one is free, too, because the demo has a page at each."""
    while True:
        port = random.choice(_PORTS)
        if _is_free(port) and _is_free(port + 1):
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
