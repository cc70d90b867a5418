# pyright: reportMissingImports=false
"""A deep agent: people decide on its tool calls and on those of its sub-agents.

    python -m examples.deep_agent "Email jo@example.com Your parcel is on its way"

Needs `pip install -c constraints.txt ".[langgraph]" deepagents`, Redis and a running bot
(docs/quickstart.md). If the policy's default is not `allow`, deepagents' own tools (`task`, `write_todos`, …)
need rules too.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from deepagents import create_deep_agent
from langchain.agents.middleware import InterruptOnConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from examples.support.model import choose_model
from examples.support.tools import make_tools
from hitl_core import Gate, Policy
from hitl_core.integrations.langgraph import HumanReview, Run

REDIS = os.environ.get("HITL_REDIS_URL", "redis://127.0.0.1:6379/0")
DATA = Path(os.environ.get("AGENT_DATA", ".demo/deep"))
INTERRUPT_ON: dict[str, bool | InterruptOnConfig] = {
    "send_email": True,
    "refund_order": True,
    "run_sql": True,
}


async def main(question: str) -> None:
    policy = Policy.load("slack_sandbox/demo/policy.yaml")
    async with (
        Gate.connect(REDIS, policy=policy, agent="deep") as gate,
        AsyncSqliteSaver.from_conn_string(str(DATA / "threads.db")) as checkpointer,
    ):
        agent = create_deep_agent(
            choose_model(), make_tools(DATA), interrupt_on=INTERRUPT_ON, checkpointer=checkpointer
        )
        driver = HumanReview(gate).drive(agent)
        ended = asyncio.Event()

        async def on_stop(run: Run) -> None:
            if not run.review_ids:  # nobody has to decide on anything now
                print(result_text(run), flush=True)
                ended.set()

        serving = asyncio.create_task(driver.serve(on_stop))
        run = await driver.run({"messages": [("user", question)]}, thread_id="deep-1")
        await on_stop(run)
        await ended.wait()
        serving.cancel()
        await asyncio.wait([serving])  # when it is cancelled, it finishes its review first


def result_text(run: Run) -> str:
    if run.refusal:
        return f"This run can't go on: {run.refusal}"
    if run.unknown:
        return f"This run waits for an answer of its program: {run.unknown[0].value}"
    return run.state["messages"][-1].text


if __name__ == "__main__":
    DATA.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(" ".join(sys.argv[1:])))
