"""LangGraph: people decide in chat about the calls for which LangChain's `HumanInTheLoopMiddleware` pauses.
Any process can resume the run.
"""

from __future__ import annotations

from hitl_core.errors import IntegrationError

try:
    from hitl_core.integrations.langgraph.driver import Driver, Run
    from hitl_core.integrations.langgraph.human_review import HumanReview
except ImportError as error:
    raise IntegrationError(
        'LangChain 1.4.6 and LangGraph 1.2.20 or later are needed: pip install "hitl-core[langgraph]"'
    ) from error

__all__ = ["Driver", "HumanReview", "Run"]
