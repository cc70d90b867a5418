"""Which agents the drivers of each gate serve. A driver that serves gets every review of its gate, also those
of another agent: it would run their approved calls with its own tools.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from hitl_core.errors import IntegrationError
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph.graph import Graph

_served: WeakKeyDictionary[Gate, Counter[Graph]] = WeakKeyDictionary()


def check_not_served(gate: Gate, agent: Graph) -> None:
    """Raises IntegrationError if a driver of another agent serves this gate."""
    if any(other is not agent for other in _served.get(gate, ())):
        raise IntegrationError(
            f"The driver of another agent serves the gate {gate.agent!r:.80}, and would resume the runs of"
            " this one with its own tools. Open a gate with another `agent` for each of them."
        )


@contextmanager
def serve_only(gate: Gate, agent: Graph) -> Generator[None, None, None]:
    """Within the block, this agent is served. Raises what `check_not_served` raises."""
    check_not_served(gate, agent)
    served = _served.setdefault(gate, Counter())
    served[agent] += 1
    try:
        yield
    finally:
        served.subtract([agent])
        _served[gate] = +served
