"""Free ports for servers that must know theirs before they start."""

from __future__ import annotations

from slack_sandbox.demo.ports import find_free_port, find_free_ports
from tests.support.processes.ports import find_free_port_before_another


def test_a_port_is_given_once_before_a_server_uses_it() -> None:
    given = [*find_free_ports(500), find_free_port(), *find_free_ports(500)]
    assert len(set(given)) == len(given)


def test_the_ports_of_two_pages_are_not_given_again() -> None:
    first = find_free_port_before_another()
    assert not {first, first + 1} & set(find_free_ports(100))
