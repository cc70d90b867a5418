"""Free ports for servers that must know their port before they start."""

from __future__ import annotations

import random
import socket

#: Below the ports that the system gives to clients, so that no connection takes one before its server does. A
#: node of a Redis Cluster uses its port plus 10,000, too.
_PORTS = range(12_000, 22_000)


def find_free_port() -> int:
    return find_free_ports(1)[0]


def find_free_ports(count: int) -> list[int]:
    """Each of them plus 10,000 is free, too, for the bus of a Redis Cluster's node."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.choice(_PORTS)
        if port not in ports and is_free(port) and is_free(port + 10_000):
            ports.append(port)
    return ports


def is_free(port: int) -> bool:
    """Whether a server can listen on it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as a server does
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
