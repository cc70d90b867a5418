"""The agent's side: submit, wait, settled."""

from hitl_core.gate.answers import Answer
from hitl_core.gate.gate import LEASE, Gate
from hitl_core.gate.outcome import Outcome
from hitl_core.gate.request import JudgedCalls

__all__ = ["LEASE", "Answer", "Gate", "JudgedCalls", "Outcome"]
