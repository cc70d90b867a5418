"""A small agent that tests kill: `agent_script.py URL EFFECTS LEASE`. Continues its turn, or starts it.

Its one tool appends a line to the effects file. Prints the answers as one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from hitl_core.failpoints import failpoint
from hitl_core.gate import Gate
from tests.support.builders import call, policy

TOOL = os.environ.get("TOOL", "ask")


async def main(url: str, effects: str, lease: str) -> None:
    async with Gate.connect(url, policy=policy(), agent="billing", lease=float(lease)) as gate:
        outcome = await gate.review([call(TOOL, n=1)], thread_id="t", turn="m1")
        results: dict[str, str] = {}
        for ready in outcome.execute:
            if await outcome.once(ready):
                file = os.open(effects, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
                os.write(
                    file, f"{outcome.idempotency_key(ready)} {json.dumps(ready.args)}\n".encode()
                )
                os.close(file)
                await failpoint("agent.after_effect")
                results[ready.id] = "sent"
        await outcome.finish(results)
        print(json.dumps([answer.content for answer in outcome.answers]), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
