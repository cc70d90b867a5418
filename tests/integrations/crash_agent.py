"""An agent process to kill: `python -m tests.integrations.crash_agent REDIS_URL FOLDER`.

Starts its one run, or goes on with it, and serves until it is killed. What the model was told in
the end stands in FOLDER/answers.json.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from hitl_core.gate import Gate
from hitl_core.integrations.langgraph import Run
from tests.integrations.agents import POLICY, Lab, answers, call, go

TURN = [
    call("c1", "send_email", to="a"),
    call("c2", "read", topic="x"),
    call("c3", "run_sql", query="DROP TABLE t"),
]


async def main(url: str, folder: Path) -> None:
    async with (
        Gate.connect(url, policy=POLICY, agent="billing", lease=1.0) as gate,
        AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver,
    ):
        driver = Lab(gate, saver, folder).driver(TURN)

        async def told(run: Run) -> None:
            (folder / "answers.json").write_text(json.dumps(answers(run)))

        known = await saver.aget({"configurable": {"thread_id": "t-1"}})
        await driver.run(None if known else go(), thread_id="t-1", requester="U0MARIA")
        await driver.serve(told)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
