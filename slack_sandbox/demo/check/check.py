"""`hitl demo --check`: the whole flow without a browser. The agent submits turns, people decide by signed
requests, the agent is killed before the last decision, a second one finishes, and the check compares what the
tools received with what was decided.
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

from hitl_core import Policy

from ...client import Actor
from ..children import PROGRAM, ChildError, ChildProcess
from ..services import Services, open_services
from .reviewers import CheckFailed, DemoReviewers
from .turns import Turn, read_lines, read_turns, to_line
from .two_channels import check_both

T = TypeVar("T")

#: How long a turn may take from its last decision to its outcome, in seconds.
TIMEOUT = 60.0


def run(data: Path, policy_file: Path, calls: Path, port: int, *, both: bool = False) -> int:
    """Returns 0 if everything ran exactly as decided, else 1. `both`: also checks one review that is shown in
    Slack and in Teams, if the extra `teams` is installed.
    """
    policy = Policy.load(policy_file)
    turns = read_turns(calls, policy)
    count = "1 turn" if len(turns) == 1 else f"{len(turns)} turns"
    _print(f"{count} of {calls} under {policy_file}")
    with open_services(data, policy=policy_file, port=port, fresh=True) as services:
        redis = f"redis {services.redis_pid}, " if services.redis_pid else ""
        pids = ", ".join(f"{child.name} {child.pid}" for child in services.children)
        _print(f"pids: {redis}{pids}; page {services.page}")
        agents = _Agents(services, policy_file, turns)
        try:
            failed = asyncio.run(_play_all(services, policy, turns, agents))
        finally:
            agents.stop()
        is_good = not (both and services.teams_page) or asyncio.run(_play_both(services))
    _print(f"{len(turns) - failed} of {count} ran exactly as decided")
    return 0 if is_good and not failed else 1


async def _play_all(services: Services, policy: Policy, turns: list[Turn], agents: _Agents) -> int:
    """Plays all turns, and returns the number of failed ones."""
    failed = 0
    async with Actor(services.page.rstrip("/")) as actor:
        people = DemoReviewers(actor)
        for turn in turns:
            _print(
                f"turn {turn.number}, thread {turn.thread_id}: {', '.join(c.name for c in turn.calls)}"
            )
            try:
                agents.start_turn(turn)
                await _decide(turn, people, agents)
                outcome = await agents.wait_outcome()
                if turn.decisions:
                    closing = await people.wait_final_text(turn, outcome["executed"])
                    _print(f"  the message says: {closing}")
                _compare(turn, policy, outcome)
            except (CheckFailed, ChildError) as error:
                _print(f"  FAILED: {error}")
                failed += 1
    return failed


async def _play_both(services: Services) -> bool:
    """Checks a review that is shown in Slack and in Teams. Returns whether it passed."""
    _print("one review in Slack and in Teams")
    try:
        async with Actor(services.page.rstrip("/")) as actor:
            for step in await check_both(services, actor):
                _print(f"  {step}")
    except CheckFailed as error:
        _print(f"  FAILED: {error}")
        return False
    _print("  exactly as decided")
    return True


async def _decide(turn: Turn, people: DemoReviewers, agents: _Agents) -> None:
    """Makes every decision by a signed request. Before the last one, the agent is killed."""
    if not turn.decisions:
        return
    message = await _wait_or_fail(people.wait_for_message(), agents)
    *first, last = turn.decisions.items()
    for call_id, plan in first:
        _print(f"  {await people.decide(message, turn, call_id, plan)}")
    agents.replace_agent()
    _print(f"  {await people.decide(message, turn, *last)}")


async def _wait_or_fail(work: Coroutine[Any, Any, T], agents: _Agents) -> T:
    """The result of `work`. Raises CheckFailed if the agent refuses the turn or ends first."""
    waiting, early_end = asyncio.create_task(work), asyncio.create_task(agents.wait_early_end())
    await asyncio.wait([waiting, early_end], return_when=asyncio.FIRST_COMPLETED)
    for task in (waiting, early_end):
        if not task.done():
            task.cancel()
    await asyncio.gather(waiting, early_end, return_exceptions=True)
    if early_end.done() and not early_end.cancelled():
        raise CheckFailed(early_end.result())
    return waiting.result()


def _compare(turn: Turn, policy: Policy, outcome: Mapping[str, Any]) -> None:
    result = {
        "thread_id": turn.thread_id,
        "executed": outcome["executed"],
        "answers": outcome["answers"],
    }
    print(json.dumps(result), flush=True)  # ASCII: no reader splits a line at U+2028
    expected = turn.calls_to_run(policy)
    if json.dumps(expected, sort_keys=True) != json.dumps(outcome["executed"], sort_keys=True):
        raise CheckFailed(f"these should have run: {json.dumps(expected, ensure_ascii=False)}")
    result_ids = {call["id"] for call in outcome["executed"]} | {
        answer["tool_call_id"] for answer in outcome["answers"]
    }
    if missing := [call.id for call in turn.calls if call.id not in result_ids]:
        raise CheckFailed(f"these calls have no answer: {', '.join(missing)}")
    _print(f"  exactly as decided, by agent {outcome['pid']}")


class _Agents:
    """The agent's processes: one works, and a standby takes over when it dies."""

    def __init__(self, services: Services, policy_file: Path, turns: list[Turn]) -> None:
        self._services, self._policy_file = services, policy_file
        self._data = services.data / "agent"
        self._data.mkdir(parents=True, exist_ok=True)
        lines = "".join(f"{to_line(turn)}\n" for turn in turns)
        (self._data / "turns.jsonl").write_text(lines, "utf-8")
        self._count = 0
        self._name = (
            f"check-{uuid4().hex[:6]}"  # the user's own Redis may contain reviews of earlier checks
        )
        self._line_counts = {"received": 0, "outcomes": 0}
        self._agent = self._spawn()
        self._standby = self._spawn()
        self._agent.wait_until_ready()
        _print(f"agent {self._agent.pid} is ready")

    def start_turn(self, turn: Turn) -> None:
        if not self._agent.is_alive():
            self._agent, self._standby = self._standby, self._spawn()
            self._agent.wait_until_ready()
        self._line_counts = {name: len(self._lines(name)) for name in self._line_counts}
        self._agent.write(f"begin {turn.number}")

    def replace_agent(self) -> None:
        """Kill the agent with kill -9; the next one takes over."""
        self._agent.kill()
        _print(
            f"  agent {self._agent.pid} killed with kill -9, agent {self._standby.pid} takes over"
        )
        self._agent, self._standby = self._standby, self._spawn()
        self._agent.wait_until_ready()

    async def wait_outcome(self) -> dict[str, Any]:
        """Waits for the outcome: what the tools received, and the messages for the calls that didn't run."""
        end = time.monotonic() + TIMEOUT
        while not (outcomes := self._new_lines("outcomes")):
            if not self._agent.is_alive():
                raise ChildError(f"the agent ended: see {self._agent.log}")
            if time.monotonic() > end:
                raise ChildError(
                    f"the agent has no outcome after {TIMEOUT:.0f} s: {self._agent.log}"
                )
            await asyncio.sleep(0.02)
        if outcomes[-1].get("refused"):
            raise CheckFailed(str(outcomes[-1]["refused"]))
        received = self._new_lines("received")
        ran = [call["id"] for call in received]
        return {
            "executed": [{key: call[key] for key in ("id", "name", "args")} for call in received],
            "answers": [m for m in outcomes[-1]["messages"] if m["tool_call_id"] not in ran],
            "pid": outcomes[-1]["pid"],
        }

    async def wait_early_end(self) -> str:
        """Waits until the agent refuses the turn or ends, and returns the reason."""
        while self._agent.is_alive():
            if outcomes := self._new_lines("outcomes"):
                return str(outcomes[-1].get("refused") or "it ended without a review")
            await asyncio.sleep(0.05)
        return f"the agent ended: see {self._agent.log}"

    def stop(self) -> None:
        self._agent.stop()
        self._standby.stop()

    def _spawn(self) -> ChildProcess:
        self._count += 1
        arguments = [
            f"{PROGRAM}.demo.check.agent",
            f"--redis={self._services.redis_url}",
            f"--data={self._data}",
            f"--policy={self._policy_file}",
            f"--turns={self._data / 'turns.jsonl'}",
            f"--name={self._name}",
        ]
        name = f"agent-{self._count}"
        child = ChildProcess(
            name, arguments, "agent: ready", self._services.data / "logs", stdin=subprocess.PIPE
        )
        child.launch()
        return child

    def _new_lines(self, name: str) -> list[dict[str, Any]]:
        return self._lines(name)[self._line_counts[name] :]

    def _lines(self, name: str) -> list[dict[str, Any]]:
        return read_lines(self._data / f"{name}.jsonl")


def _print(text: str) -> None:
    print(f"· {text}", flush=True)
