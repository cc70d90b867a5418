"""`hitl demo`: runs everything, prints the address to open, and ends at Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ..client import Actor
from .children import PROGRAM, ChildError, ChildProcess
from .embedded_redis import EmbeddedRedis
from .ports import find_free_port
from .redis_binary import EmbeddedRedisError
from .services import ASK, Services, open_services
from .teams import has_teams

#: A child that dies this often, each time within this many seconds after its start, is not restarted.
QUICK_DEATH, MAX_DEATHS = 5.0, 5


def run(data: Path, policy: Path, port: int, ask: str | None, *, is_own: bool = False) -> int:
    """Runs until Ctrl-C or SIGTERM. Returns 1 if a process dies again and again. `is_own`: the policy is the
    demo's own. Then every review is shown in Teams as well, if the extra `teams` is installed.
    """
    if is_own and has_teams():
        policy = _with_teams(policy, data)
    stopped = _install_signal_handlers()
    agent_port = find_free_port()
    ask_url = f"http://127.0.0.1:{agent_port}/ask"
    redis = "" if os.environ.get("HITL_REDIS_URL") else "Redis, "
    chats = "a local Slack and Teams" if has_teams() else "a local Slack"
    print(f"Starting {redis}{chats}, the bot and an agent ...", flush=True)
    try:
        with open_services(
            data, policy=policy, port=port, teams_port=port + 1, ask_url=ask_url
        ) as services:
            agent = _make_agent(services, policy, agent_port)
            try:
                agent.start()
                _print_addresses(services, agent)
                if ask:
                    asyncio.run(_ask(services, ask))
                own_redis = [_Redis(services.redis)] if services.redis else []
                _restart_dead([*own_redis, *services.children, agent], stopped)
            finally:
                agent.stop()
    except KeyboardInterrupt:
        pass
    print("\nStopped. Open reviews are kept: `hitl demo` shows them again.")
    return 0


def _with_teams(policy: Path, data: Path) -> Path:
    data.mkdir(parents=True, exist_ok=True)
    both = data / "policy.yaml"
    places = 'notify: ["slack:#agent-approvals", "teams:Agent approvals"]\n'
    both.write_text(policy.read_text("utf-8") + places, "utf-8")
    return both


class _Redis:
    """The demo's Redis, restarted like a child process. It syncs every write, so a crash loses none."""

    name = "redis"

    def __init__(self, server: EmbeddedRedis) -> None:
        self._server = server
        self.log = server.data_dir / "redis.log"
        self.started = time.monotonic()
        self.pid = server.pid or 0

    def is_alive(self) -> bool:
        return self._server.pid is not None

    def start(self) -> None:
        self.started = time.monotonic()
        self._server.kill()  # this releases its folder
        self._server.start()
        self.pid = self._server.pid or 0


def _install_signal_handlers() -> threading.Event:
    """Makes Ctrl-C and SIGTERM raise an exception and set the event. The event is needed because Python
    sometimes drops such an exception, for example in the hooks around a fork."""
    stopped = threading.Event()

    def stop(*_: object) -> None:
        stopped.set()
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return stopped


def _make_agent(services: Services, policy: Path, port: int) -> ChildProcess:
    arguments = [
        f"{PROGRAM}.demo.agent",
        f"--redis={services.redis_url}",
        f"--data={services.data / 'agent'}",
        f"--policy={policy}",
        f"--port={port}",
        f"--say={services.page}sandbox/agent",
    ]
    return ChildProcess("agent", arguments, "agent: http", services.data / "logs")


def _print_addresses(services: Services, agent: ChildProcess) -> None:
    redis = f"redis {services.redis_pid}, " if services.redis_pid else ""
    redis_url = f"={services.redis_url}" if services.redis else ", as you set it for the demo"
    pids = ", ".join(f"{child.name} {child.pid}" for child in (*services.children, agent))
    teams = f"\n  Teams    {services.teams_page}" if services.teams_page else ""
    print(
        f"""
  Open     {services.page}
           Ask the agent something there: refund order 1042
  Also as  {services.page}?user=U0CARL&channel=C0OPS   (Carl of #team-ops, in a second tab){teams}
  Running  {redis}{pids}
           Kill one (kill -9): it is restarted, and no decision is lost.
  Connect  your own agent: HITL_REDIS_URL{redis_url}
           or over HTTP:   {services.bot_url}
  Data     {os.path.relpath(services.data)}  (logs, the shop's database, e-mails that were sent)
  Stop     Ctrl-C
""",
        flush=True,
    )


async def _ask(services: Services, text: str) -> None:
    async with Actor(services.page.rstrip("/")) as actor:
        await actor.say("U0MARIA", ASK, text)


def _restart_dead(children: Sequence[ChildProcess | _Redis], stopped: threading.Event) -> None:
    """Restart processes that died, Redis first because the others need it. Raises if one keeps dying."""
    deaths = dict.fromkeys((child.name for child in children), 0)
    while not stopped.wait(0.2):
        for child in children:
            if child.is_alive():
                continue
            young = time.monotonic() - child.started < QUICK_DEATH
            deaths[child.name] = deaths[child.name] + 1 if young else 1
            if deaths[child.name] >= MAX_DEATHS:
                raise ChildError(f"{child.name} dies again and again: see {child.log}")
            print(f"  {child.name} {child.pid} ended; restarting it ...", flush=True)
            try:
                child.start()
            except (ChildError, EmbeddedRedisError) as error:
                print(f"  {error}", flush=True)
                break  # a process that this one needs may have died too: check all of them again
            print(f"  {child.name} runs again as {child.pid}.", flush=True)
