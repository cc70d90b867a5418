"""One process of an agent in `make chaos`: `chaos_agent PROCESS FOLDER`. When it is started again, it
continues its work.

It submits its reviews of the plan, and runs what was decided. Its tool appends one line to a file, which is
the side effect. If HITL_TOKEN is set, it uses the HTTP API, else the library and Redis.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any

from benchmarks.chaos.faults.bugs import add_bug
from benchmarks.chaos.http_gate import HttpGate, HttpOutcome
from benchmarks.chaos.journal import Journal
from benchmarks.chaos.plan import Item, Plan, agent_name, policy
from hitl_core import Gate, HitlError, Outcome

#: How many submits, and how many tools, run at the same time.
AT_ONCE = 16
#: The seconds before a failed submit is tried again.
PAUSE = 0.5
HEARTBEAT = 3.0


class Agent:
    def __init__(self, gate: Gate | HttpGate, process: int, folder: Path) -> None:
        self._gate, self._process = gate, process
        self._submits = Journal(folder / f"submits-{process}.jsonl")
        self._tools = Journal(folder / "tools.jsonl")
        self._start = folder / "start"
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, items: Iterable[Item]) -> None:
        known = {entry["number"] for entry in self._submits.read()}
        mine = [item for item in items if item.agent == self._process]
        for item in mine:
            if item.waits or item.number not in known:
                self._spawn(item)
        async for outcome in self._gate.outcomes():
            self._keep(asyncio.create_task(self._work(outcome)))

    def _spawn(self, item: Item) -> None:
        self._keep(asyncio.create_task(self._submit(item)))

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _submit(self, item: Item) -> None:
        """Repeats the submit until it is stored. A repeated submit finds the same review."""
        if item.is_timed:
            await self._wait_until(item.at)
        while True:
            try:
                async with self._slots:
                    review_id = await self._gate.submit(
                        item.calls, thread_id=f"t-{item.number}", turn="1",
                        requester=f"{item.chat}:{item.requester}",
                    )  # fmt: skip
                self._submits.write(number=item.number, review=review_id, at=time.time())
                break
            except HitlError:
                await asyncio.sleep(PAUSE)
        while item.waits:
            try:
                if await self._work(await self._gate.wait(review_id)):
                    return
            except HitlError:
                await asyncio.sleep(PAUSE)

    async def _wait_until(self, at: float) -> None:
        while not self._start.exists():  # noqa: ASYNC110 - another process makes the file
            await asyncio.sleep(0.05)
        await asyncio.sleep(float(self._start.read_text()) + at - time.time())

    async def _work(self, outcome: Outcome | HttpOutcome) -> bool:
        """Runs the review's calls. Returns whether the review is done."""
        results: dict[str, str] = {}
        try:
            async with self._slots:
                for call in outcome.execute:
                    if not await outcome.once(call):
                        continue
                    self._tools.write(
                        review=outcome.review_id, call=call.id, name=call.name, args=call.args,
                        process=self._process, pid=os.getpid(), at=time.time(),
                    )  # fmt: skip
                    await asyncio.sleep(random.uniform(0, 0.02))
                    results[call.id] = f"sent {call.args['amount']}"
                await outcome.finish(results)
        except HitlError:
            outcome.release()  # another process continues, or a person is asked
            return False
        return True


async def main(process: int, folder: Path) -> None:
    plan = Plan.load(folder / "plan.json")
    add_bug(plan.bug)
    items = plan.items()
    while True:
        with suppress(HitlError):
            async with _open_gate(plan, process) as gate:
                print("agent: ready", flush=True)
                await Agent(gate, process, folder).run(items)
        await asyncio.sleep(PAUSE)


def _open_gate(plan: Plan, process: int) -> AbstractAsyncContextManager[Gate | HttpGate]:
    if token := os.environ.get("HITL_TOKEN"):
        return HttpGate.connect(os.environ["HITL_URLS"].split(), token)
    return Gate.connect(
        os.environ["HITL_REDIS_URL"], policy=policy(plan.chat), agent=agent_name(process),
        lease=plan.lease, heartbeat_ttl=HEARTBEAT,
    )  # fmt: skip


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2])))
