"""A free port for the demo."""

from __future__ import annotations

from slack_sandbox.demo.ports import find_free_port, is_free


def find_free_port_before_another() -> int:
    """A free port of which the next one is free, too: the demo has a page at each."""
    while True:
        port = find_free_port()
        if is_free(port + 1):
            return port
