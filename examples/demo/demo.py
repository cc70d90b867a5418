"""The demo: everything running, an address to open, and Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from bot.sandbox.hands import Hands
from examples.demo.children import Child, ChildError, free_port
from examples.demo.stage import ASK, Stage, stage
from hitl_core.embedded_redis import EmbeddedRedis, EmbeddedRedisError

#: A child that died this soon after its start, this often, is not started again.
YOUNG, DEATHS = 5.0, 5


def run(data: Path, policy: Path, port: int, ask: str | None) -> int:
    """Until Ctrl-C or SIGTERM. 1 where a process can't be kept alive."""
    stopped = _stopped_by_signal()
    agent_port = free_port()
    ask_url = f"http://127.0.0.1:{agent_port}/ask"
    print("Starting Redis, a local Slack, the bot and an agent ...", flush=True)
    try:
        with stage(data, policy=policy, port=port, ask_url=ask_url) as on:
            agent = _agent(on, policy, agent_port)
            try:
                agent.start()
                _tell(on, agent)
                if ask:
                    asyncio.run(_ask(on, ask))
                redis = [_Redis(on.redis)] if on.redis else []
                _keep([*redis, on.sandbox, on.bot, agent], stopped)
            finally:
                agent.stop()
    except KeyboardInterrupt:
        pass
    print("\nStopped. What waits for a decision is kept: `make demo` shows it again.")
    return 0


class _Redis:
    """The demo's Redis as one more child. It syncs every write, so what was acknowledged comes back."""

    name = "redis"

    def __init__(self, server: EmbeddedRedis) -> None:
        self._server = server
        self.log = server.data_dir / "redis.log"
        self.started = time.monotonic()
        self.pid = server.pid or 0

    def alive(self) -> bool:
        return self._server.pid is not None

    def start(self) -> None:
        self.started = time.monotonic()
        self._server.kill()  # lets go of its folder
        self._server.start()
        self.pid = self._server.pid or 0


def _stopped_by_signal() -> threading.Event:
    """Ctrl-C and SIGTERM interrupt whatever is going on; the event is for the moments in which Python
    swallows an exception, as in the hooks that it runs around a fork."""
    stopped = threading.Event()

    def stop(*_: object) -> None:
        stopped.set()
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return stopped


def _agent(on: Stage, policy: Path, port: int) -> Child:
    arguments = [
        "examples.agent",
        f"--redis={on.redis_url}",
        f"--data={on.data / 'agent'}",
        f"--policy={policy}",
        f"--port={port}",
        f"--say={on.page}sandbox/agent",
    ]
    return Child("agent", arguments, "agent: http", on.data / "logs")


def _tell(on: Stage, agent: Child) -> None:
    redis = f"redis {on.redis_pid}, " if on.redis_pid else ""
    print(
        f"""
  Open     {on.page}
           Ask the agent something there: refund order 1042
  Also as  {on.page}?user=U0CARL&channel=C0OPS   (Carl of #team-ops, in a second tab)
  Running  {redis}sandbox {on.sandbox.pid}, bot {on.bot.pid}, agent {agent.pid}
           Kill one (kill -9): it comes back, and nothing decided is lost.
  Data     {os.path.relpath(on.data)}  (logs, the shop's database, e-mails that were sent)
  Stop     Ctrl-C
""",
        flush=True,
    )


async def _ask(on: Stage, text: str) -> None:
    async with Hands(on.page.rstrip("/")) as hands:
        await hands.say("U0MARIA", ASK, text)


def _keep(children: Sequence[Child | _Redis], stopped: threading.Event) -> None:
    """Start again whoever dies, Redis first, as the others need it; give up on one that can't live."""
    deaths = dict.fromkeys((child.name for child in children), 0)
    while not stopped.wait(0.2):
        for child in children:
            if child.alive():
                continue
            young = time.monotonic() - child.started < YOUNG
            deaths[child.name] = deaths[child.name] + 1 if young else 1
            if deaths[child.name] >= DEATHS:
                raise ChildError(f"{child.name} dies again and again: see {child.log}")
            print(f"  {child.name} {child.pid} ended; starting it again ...", flush=True)
            try:
                child.start()
            except (ChildError, EmbeddedRedisError) as error:
                print(f"  {error}", flush=True)
                break  # what it needs may have died as well: look at all of them again
            print(f"  {child.name} is back as {child.pid}.", flush=True)
