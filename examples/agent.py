"""A support desk, made with LangChain, in its own process. You can kill and restart it at any time.

    python -m examples.agent --redis redis://127.0.0.1:6379/0 --policy slack_sandbox/demo/policy.yaml

Needs `pip install -c constraints.txt ".[langgraph,slack]"`, Redis and a running bot (docs/quickstart.md).
`POST /ask {"user", "text", "channel", "ts"}` starts a run. The run's last answer goes to the URL in `--say`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
from pathlib import Path

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, InterruptOnConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from examples.support.desk import Desk
from examples.support.model import SYSTEM_PROMPT, choose_model
from examples.support.tools import make_tools
from hitl_core import Gate, HitlError, Policy
from hitl_core.integrations.langgraph import HumanReview

#: LangChain's own configuration: which tools pause, and which decisions are allowed.
INTERRUPT_ON: dict[str, bool | InterruptOnConfig] = {
    "refund_order": True,
    "send_email": True,
    "update_customer": True,
    "run_sql": {"allowed_decisions": ["approve", "reject"]},
}


async def serve(settings: argparse.Namespace) -> None:
    """A normal LangChain agent; only `reviews` and its driver are ours."""
    policy = Policy.load(settings.policy)
    async with (
        Gate.connect(settings.redis, policy=policy, agent="support") as gate,
        AsyncSqliteSaver.from_conn_string(str(settings.data / "threads.db")) as checkpointer,
    ):
        reviews = HumanReview(gate)
        agent = create_agent(
            choose_model(),
            make_tools(settings.data),
            system_prompt=SYSTEM_PROMPT,
            middleware=[HumanInTheLoopMiddleware(INTERRUPT_ON)],
            checkpointer=checkpointer,
        )
        driver = reviews.drive(agent)
        await Desk(agent, driver, checkpointer, settings.say).open(settings.port)


def main() -> None:
    env = os.environ.get
    parser = argparse.ArgumentParser(description="A support desk, made with LangChain.")
    parser.add_argument("--redis", default=env("HITL_REDIS_URL", "redis://127.0.0.1:6379/0"))
    parser.add_argument("--policy", default=env("HITL_POLICY", "slack_sandbox/demo/policy.yaml"))
    parser.add_argument("--data", type=Path, default=Path(env("AGENT_DATA", ".demo/agent")))
    parser.add_argument("--port", type=int, default=int(env("AGENT_PORT", "0")))
    parser.add_argument("--say", default=env("AGENT_SAY"), metavar="URL")
    settings = parser.parse_args()
    settings.data.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(level=logging.WARNING, format="agent: %(message)s")
    try:
        asyncio.run(serve(settings))
    except HitlError as error:
        raise SystemExit(f"agent: {error}") from error


if __name__ == "__main__":
    main()
