"""An agent that submits many turns at once, and prints the time at which each outcome arrived: `<review>
<nanoseconds>`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time

from benchmarks.support.payload import POLICY, tool_call
from hitl_core import Gate, Policy


async def main(count: int) -> None:
    async def ask(number: int) -> None:
        outcome = await gate.review([tool_call()], thread_id=f"turn-{number}", turn="1")
        now = time.monotonic_ns()
        await outcome.finish()
        print(outcome.review_id, now, flush=True)

    policy = Policy.from_mapping(POLICY)
    async with Gate.connect(os.environ["HITL_REDIS_URL"], policy=policy, agent="bench") as gate:
        print("waiting", flush=True)
        await asyncio.gather(*map(ask, range(count)))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
