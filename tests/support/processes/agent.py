"""An agent as a separate process, which a test kills: its tools write a line to a file.

python -m tests.support.processes.agent REDIS_URL EFFECTS_FILE CALLS_JSON
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from hitl_core import Gate, Policy, ToolCall
from tests.support.bots import POLICY

#: The seconds after which the claim of a killed agent ends.
LEASE = 0.5


async def main(redis_url: str, effects: Path, calls: list[ToolCall]) -> None:
    policy = Policy.from_yaml(POLICY)
    async with Gate.connect(redis_url, policy=policy, agent="crm", lease=LEASE) as gate:
        outcome = await gate.review(calls, thread_id="t-1", turn="m1")
        results: dict[str, str] = {}
        for call in outcome.execute:
            if await outcome.once(call):
                with effects.open("a") as file:
                    file.write(f"{call.id}\n")
                results[call.id] = f"{call.name} ran"
        await outcome.finish(results)
        text = [answer._asdict() for answer in outcome.answers]
        print("outcome:", json.dumps({"executed": list(results), "answers": text}), flush=True)


if __name__ == "__main__":
    asked = [ToolCall.from_mapping(call) for call in json.loads(sys.argv[3])]
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), asked))
