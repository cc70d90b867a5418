"""The agent's side: submit, wait, settled."""

from hitl_core.gate.gate import LEASE, Gate
from hitl_core.gate.outcome.answers import Answer
from hitl_core.gate.outcome.outcome import Outcome
from hitl_core.gate.submission.judging import JudgedCalls

__all__ = ["LEASE", "Answer", "Gate", "JudgedCalls", "Outcome"]
