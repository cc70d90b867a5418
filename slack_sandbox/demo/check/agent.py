"""The agent of `hitl demo --check`: its turns come from a file, and its tools only record their calls.

python -m slack_sandbox.demo.check.agent --redis URL --name NAME --data DIR --policy FILE --turns FILE

Any number of these processes may run, and each can finish what another one began. The line `begin N` on the
standard input of one process starts turn N. What the tools receive is appended to DIR/received.jsonl, and the
outcome of each turn to DIR/outcomes.jsonl.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from hitl_core import Gate, HitlError, Outcome, ToolCall

from .turns import read_lines


async def serve(options: argparse.Namespace) -> None:
    turns = {turn["number"]: turn for turn in read_lines(options.turns)}
    async with (
        Gate.connect(options.redis, policy=options.policy, agent=options.name, lease=10.0) as gate,
        asyncio.TaskGroup() as tasks,
    ):
        tasks.create_task(_submit_turns(gate, turns, options.data))
        tasks.create_task(_run_outcomes(gate, options.data))
        print("agent: ready", flush=True)


async def _submit_turns(gate: Gate, turns: dict[int, dict[str, Any]], data: Path) -> None:
    async for number in _turn_numbers():
        thread_id = turns[number]["thread_id"]
        calls = [ToolCall.from_mapping(call) for call in turns[number]["calls"]]
        try:
            await gate.submit(calls, thread_id=thread_id, turn=f"turn-{number}")
        except HitlError as error:
            _append(data / "outcomes.jsonl", {"thread_id": thread_id, "refused": str(error)})


async def _run_outcomes(gate: Gate, data: Path) -> None:
    async for outcome in gate.outcomes():
        # Each goes to one process, and to another one if that dies.
        try:
            await _run_outcome(outcome, data)
        except HitlError as error:
            print(f"agent: {outcome.review_id}: {error}", flush=True)
        finally:
            outcome.release()


async def _run_outcome(outcome: Outcome, data: Path) -> None:
    results: dict[str, str] = {}
    for call in outcome.execute:  # allowed or approved, edits applied
        if await outcome.once(call):
            received = {"id": call.id, "name": call.name, "args": call.args, "pid": os.getpid()}
            _append(data / "received.jsonl", received)
            results[call.id] = "recorded"
    answers = [answer._asdict() for answer in outcome.answers]
    end = {"thread_id": outcome.thread_id, "messages": answers, "pid": os.getpid()}
    _append(data / "outcomes.jsonl", end)
    await outcome.finish(results)


async def _turn_numbers() -> AsyncIterator[int]:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield int(line.split()[1])


def _append(file: Path, value: dict[str, Any]) -> None:
    """One write in append mode, so that the lines of several processes don't mix."""
    line = json.dumps(value, ensure_ascii=False) + "\n"
    number = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(number, line.encode())
        os.fsync(number)
    finally:
        os.close(number)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--redis", required=True)
    parser.add_argument("--name", required=True, help="the agent's name")
    for name in ("--data", "--policy", "--turns"):
        parser.add_argument(name, type=Path, required=True)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
