"""A free port for the demo."""

from __future__ import annotations

from slack_sandbox.demo.ports import find_free_port


def find_free_port_before_another() -> int:
    """A free port of which the next one is free, too: the demo has a page at each."""
    port = find_free_port()
    while (following := find_free_port()) != port + 1:
        port = following
    return port
