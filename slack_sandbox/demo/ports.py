"""Free ports for servers that must know their port before they start."""

from __future__ import annotations

import random
import socket
from itertools import cycle, islice

#: Below the ports that the system gives to clients, so that no connection takes one before its server does. A
#: node of a Redis Cluster uses its port plus 10,000, too.
_PORTS = range(12_000, 22_000)
_START = random.choice(_PORTS)
#: Each process goes through them from its own start: a port that it was given, and that no server has bound
#: yet, is not given again, and processes that run at the same time rarely try the same one.
_next_ports = cycle([*range(_START, _PORTS.stop), *range(_PORTS.start, _START)])


def find_free_port() -> int:
    return find_free_ports(1)[0]


def find_free_ports(count: int) -> list[int]:
    """Each of them plus 10,000 is free, too, for the bus of a Redis Cluster's node."""
    free = (port for port in _next_ports if is_free(port) and is_free(port + 10_000))
    return list(islice(free, count))


def is_free(port: int) -> bool:
    """Whether a server can listen on it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as a server does
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
