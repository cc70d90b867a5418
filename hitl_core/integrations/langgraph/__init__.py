"""LangGraph: people decide in chat about the calls for which LangChain's `HumanInTheLoopMiddleware` pauses.
Any process can resume the run.

Public: `HumanReview` guards and drives an agent; its `Driver` runs threads and returns a `Run`.

reviews = HumanReview(gate)
agent = create_agent(
    model,
    tools,
    middleware=[HumanInTheLoopMiddleware(interrupt_on={...})],
    checkpointer=checkpointer,
)
driver = reviews.drive(agent)
run = await driver.run({"messages": [...]}, thread_id="t-42", requester="U0MARIA")
await driver.serve()
"""

from __future__ import annotations

from hitl_core.errors import IntegrationError

try:
    from hitl_core.integrations.langgraph.driver import Driver, Run
    from hitl_core.integrations.langgraph.human_review import HumanReview
except ImportError as error:
    raise IntegrationError(
        'LangChain 1.4.6 and LangGraph 1.2.16 or later are needed: pip install "hitl-core[langgraph]"'
    ) from error

__all__ = ["Driver", "HumanReview", "Run"]
