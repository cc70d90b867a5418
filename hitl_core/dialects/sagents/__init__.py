"""Sagents, an agent framework for Elixir: tool approvals, and questions to a person.

https://hexdocs.pm/sagents
"""

from hitl_core.dialects.sagents.approvals import is_approval
from hitl_core.dialects.sagents.interrupts import dialect

__all__ = ["dialect", "is_approval"]
