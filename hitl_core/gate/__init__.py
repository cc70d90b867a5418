"""The agent's side: submit tool calls, wait for the decisions, run what was approved.

Public: `Gate`, `Outcome` and `Answer`; `JudgedCalls` for integrations. `gate.blocking` is the same API for
code without an event loop.
"""

from hitl_core.gate.gate import LEASE, Gate
from hitl_core.gate.outcome.answers import Answer
from hitl_core.gate.outcome.outcome import Outcome
from hitl_core.gate.submission.judging import JudgedCalls

__all__ = ["LEASE", "Answer", "Gate", "JudgedCalls", "Outcome"]
