"""Agent Inbox: `HumanInterrupt` and `HumanResponse`. It has flags in place of a list of decisions.

https://github.com/langchain-ai/agent-inbox
"""

from hitl_core.dialects.agent_inbox.interrupts import dialect, find_interrupts
from hitl_core.dialects.agent_inbox.page import page_offers

__all__ = ["dialect", "find_interrupts", "page_offers"]
