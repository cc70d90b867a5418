"""`make demo CHECK=1`: the main job without a browser. Turns go in, people decide by signed requests, the
agent is killed before the last decision, a second one finishes, and what the tools received is compared.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from bot.sandbox.hands import Hands
from examples.demo.children import Child, ChildError
from examples.demo.people import CantDecide, People
from examples.demo.stage import Stage, stage
from examples.demo.turns import Turn, as_line, read, read_lines
from hitl_core import Policy

T = TypeVar("T")

#: How long a turn may take from its last decision to its outcome, in seconds.
PATIENCE = 60.0


def run(data: Path, policy_file: Path, calls: Path, port: int) -> int:
    """0 when everything ran exactly as decided, else 1."""
    policy = Policy.load(policy_file)
    turns = read(calls, policy)
    count = "1 turn" if len(turns) == 1 else f"{len(turns)} turns"
    _say(f"{count} of {calls} under {policy_file}")
    with stage(data, policy=policy_file, port=port, fresh=True) as on:
        redis = f"redis {on.redis_pid}, " if on.redis_pid else ""
        _say(f"pids: {redis}sandbox {on.sandbox.pid}, bot {on.bot.pid}; page {on.page}")
        agents = _Agents(on, policy_file, turns)
        try:
            failed = asyncio.run(_play_all(on, policy, turns, agents))
        finally:
            agents.stop()
    _say(f"{len(turns) - failed} of {count} ran exactly as decided")
    return 1 if failed else 0


async def _play_all(on: Stage, policy: Policy, turns: list[Turn], agents: _Agents) -> int:
    """How many failed."""
    failed = 0
    async with Hands(on.page.rstrip("/")) as hands:
        people = People(hands)
        for turn in turns:
            _say(
                f"turn {turn.number}, thread {turn.thread_id}: {', '.join(c.name for c in turn.calls)}"
            )
            try:
                agents.begin(turn)
                await _decide(turn, people, agents)
                outcome = await agents.outcome(turn)
                if turn.decisions:
                    closing = await people.closing_words(turn, outcome["executed"])
                    _say(f"  the message says: {closing}")
                _compare(turn, policy, outcome)
            except (CantDecide, ChildError) as error:
                _say(f"  FAILED: {error}")
                failed += 1
    return failed


async def _decide(turn: Turn, people: People, agents: _Agents) -> None:
    """Every decision by a signed request; before the last one the agent dies."""
    if not turn.decisions:
        return
    message = await _or_refusal(people.wait_for_message(), agents)
    *first, last = turn.decisions.items()
    for call_id, plan in first:
        _say(f"  {await people.decide(message, turn, call_id, plan)}")
    agents.succeed()
    _say(f"  {await people.decide(message, turn, *last)}")


async def _or_refusal(work: Coroutine[Any, Any, T], agents: _Agents) -> T:
    """What people wait for, unless the agent says first why it never comes."""
    waiting, ended = asyncio.create_task(work), asyncio.create_task(agents.ended_early())
    await asyncio.wait([waiting, ended], return_when=asyncio.FIRST_COMPLETED)
    for task in (waiting, ended):
        if not task.done():
            task.cancel()
    await asyncio.gather(waiting, ended, return_exceptions=True)
    if ended.done() and not ended.cancelled():
        raise CantDecide(ended.result())
    return waiting.result()


def _compare(turn: Turn, policy: Policy, outcome: Mapping[str, Any]) -> None:
    shown = {
        "thread_id": turn.thread_id,
        "executed": outcome["executed"],
        "answers": outcome["answers"],
    }
    print(json.dumps(shown), flush=True)  # ASCII: no reader splits a line at U+2028
    expected = turn.expected(policy)
    if json.dumps(expected, sort_keys=True) != json.dumps(outcome["executed"], sort_keys=True):
        raise CantDecide(f"these should have run: {json.dumps(expected, ensure_ascii=False)}")
    told = {call["id"] for call in outcome["executed"]} | {
        answer["tool_call_id"] for answer in outcome["answers"]
    }
    if missing := [call.id for call in turn.calls if call.id not in told]:
        raise CantDecide(f"these calls have no answer: {', '.join(missing)}")
    _say(f"  exactly as decided, by agent {outcome['pid']}")


class _Agents:
    """The agent's processes: one that works, and where it dies one that goes on."""

    def __init__(self, on: Stage, policy_file: Path, turns: list[Turn]) -> None:
        self._on, self._policy_file = on, policy_file
        self._data = on.data / "agent"
        self._data.mkdir(parents=True, exist_ok=True)
        lines = "".join(f"{as_line(turn)}\n" for turn in turns)
        (self._data / "turns.jsonl").write_text(lines, "utf-8")
        self._count = 0
        self._name = f"check-{uuid4().hex[:6]}"  # a Redis of the user's may remember earlier checks
        self._seen = {"received": 0, "outcomes": 0}
        self._agent = self._spawn()
        self._next = self._spawn()
        self._agent.wait_until_ready()
        _say(f"agent {self._agent.pid} is ready")

    def begin(self, turn: Turn) -> None:
        if not self._agent.alive():
            self._agent, self._next = self._next, self._spawn()
            self._agent.wait_until_ready()
        self._seen = {name: len(self._lines(name)) for name in self._seen}
        self._agent.write(f"begin {turn.number}")

    def succeed(self) -> None:
        """kill -9, and the next one takes over."""
        self._agent.kill()
        _say(f"  agent {self._agent.pid} killed with kill -9, agent {self._next.pid} goes on")
        self._agent, self._next = self._next, self._spawn()
        self._agent.wait_until_ready()

    async def outcome(self, turn: Turn) -> dict[str, Any]:
        """What the tools received, and the messages in place of the others."""
        end = time.monotonic() + PATIENCE
        while not (told := self._new("outcomes")):
            if not self._agent.alive():
                raise ChildError(f"the agent ended: see {self._agent.log}")
            if time.monotonic() > end:
                raise ChildError(
                    f"the agent has no outcome after {PATIENCE:.0f} s: {self._agent.log}"
                )
            await asyncio.sleep(0.02)
        if told[-1].get("refused"):
            raise CantDecide(str(told[-1]["refused"]))
        position = {call.id: index for index, call in enumerate(turn.calls)}
        # LangGraph runs the tools of a turn side by side, so they are put in the model's order here.
        received = sorted(self._new("received"), key=lambda call: position[call["id"]])
        ran = [call["id"] for call in received]
        return {
            "executed": [{key: call[key] for key in ("id", "name", "args")} for call in received],
            "answers": [m for m in told[-1]["messages"] if m["tool_call_id"] not in ran],
            "pid": told[-1]["pid"],
        }

    async def ended_early(self) -> str:
        """Until the agent refuses the turn or ends: why."""
        while self._agent.alive():
            if told := self._new("outcomes"):
                return str(told[-1].get("refused") or "it ended without a review")
            await asyncio.sleep(0.05)
        return f"the agent ended: see {self._agent.log}"

    def stop(self) -> None:
        self._agent.stop()
        self._next.stop()

    def _spawn(self) -> Child:
        self._count += 1
        arguments = [
            "examples.demo.check_agent",
            f"--redis={self._on.redis_url}",
            f"--data={self._data}",
            f"--policy={self._policy_file}",
            f"--turns={self._data / 'turns.jsonl'}",
            f"--name={self._name}",
        ]
        name = f"agent-{self._count}"
        child = Child(
            name, arguments, "agent: ready", self._on.data / "logs", stdin=subprocess.PIPE
        )
        child.launch()
        return child

    def _new(self, name: str) -> list[dict[str, Any]]:
        return self._lines(name)[self._seen[name] :]

    def _lines(self, name: str) -> list[dict[str, Any]]:
        return read_lines(self._data / f"{name}.jsonl")


def _say(text: str) -> None:
    print(f"· {text}", flush=True)
