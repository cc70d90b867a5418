"""The gate for code without an event loop: it runs a `Gate` in a thread of its own.

with blocking.connect(policy=policy, agent="billing") as gate:
    outcome = gate.review(calls, thread_id="t-42")
"""

from hitl_core.gate.blocking.gate import BlockingGate, connect
from hitl_core.gate.blocking.outcome import BlockingOutcome

__all__ = ["BlockingGate", "BlockingOutcome", "connect"]
