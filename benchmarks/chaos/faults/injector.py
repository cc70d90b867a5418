"""The faults of a run. The seed decides which ones and when."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.chaos.chats import Chat
from benchmarks.chaos.faults.remote_link import RemoteLink
from benchmarks.chaos.journal import Journal
from benchmarks.chaos.plan import FaultGroup, Plan
from benchmarks.chaos.processes import Program
from benchmarks.chaos.servers import Server


@dataclass(frozen=True)
class Fault:
    """`at`: seconds from the start of the load. `pick`: a number that chooses the target. `seconds`: how long
    it lasts.
    """

    at: float
    group: FaultGroup
    what: str
    pick: int = 0
    seconds: float = 0.0


def schedule(plan: Plan) -> list[Fault]:
    """The same faults for the same seed and plan. Each group has its own random numbers, so leaving one group
    out doesn't change the others.
    """
    faults: list[Fault] = []
    for group in plan.faults:
        chance = random.Random(f"faults {plan.seed} {group}")
        every = {"bots": plan.bots, "agents": plan.agents, "redis": plan.redis}.get(
            group, plan.small
        )
        at = every * chance.uniform(0.3, 1.0)
        while at < plan.seconds:
            faults.append(_make_fault(group, at, plan, chance))
            at += every
    return sorted(faults, key=lambda fault: fault.at)


def _make_fault(group: FaultGroup, at: float, plan: Plan, chance: random.Random) -> Fault:
    what, seconds = "kill", 0.0
    match group:
        case "bots" | "agents":
            # A pause longer than the lease is the hard case: the process continues and believes it still has
            # the lease.
            what = chance.choice(("kill", "kill", "freeze"))
            longest = plan.lease * 1.6 if group == "agents" else 10.0
            seconds = chance.choice((chance.uniform(0.3, 3.0), longest))
        case "redis":
            what = chance.choice(("kill", "kill", "freeze", "freeze_all"))
            seconds = chance.uniform(0.3, 2.5)
            if what == "freeze_all":  # longer than a lease: nobody can renew one
                seconds = plan.lease * 1.6
        case "network":
            what = chance.choice(
                ("delay", "cut", "half_close", "silent", "lose_reply", "lose_and_hang")
            )
            seconds = chance.uniform(0.2, 2.5)
        case "chat":
            what = chance.choice(
                ("ratelimited", "http_500", "hang", "late", "late_answer", "ok_but_reset")
            )
            seconds = chance.uniform(4.5, 8.0)
    return Fault(round(at, 3), group, what, chance.randrange(1000), round(seconds, 3))


class FaultInjector:
    """Injects each fault at its time. `stop` ends those that still last."""

    def __init__(
        self,
        *,
        bots: Sequence[Program],
        agents: Sequence[Program],
        redis: Server,
        links: Sequence[RemoteLink],
        chat: Chat,
        journal: Journal,
    ) -> None:
        self._programs = {"bots": bots, "agents": agents}
        self._redis, self._links, self._chat, self._journal = redis, links, chat, journal
        self._tasks: list[asyncio.Task[None]] = []
        self._late: list[Callable[[], None]] = []
        self._server_is_busy = asyncio.Lock()

    async def run(self, faults: Sequence[Fault], start: float) -> None:
        for fault in faults:
            await asyncio.sleep(start + fault.at - time.time())
            self._journal.write(**vars(fault), now=time.time())
            self._tasks.append(asyncio.create_task(self._do(fault)))

    async def stop(self) -> None:
        """Returns when everything runs again, without faults."""
        await asyncio.gather(*self._tasks)
        self._tasks.clear()
        for link in self._links:
            link.do("reset")
        self._chat.end_faults()
        for release in self._late:
            release()

    async def _do(self, fault: Fault) -> None:
        match fault.group:
            case "bots" | "agents":
                programs = self._programs[fault.group]
                program = programs[fault.pick % len(programs)]
                if any(each.busy.locked() for each in programs if each.role == program.role):
                    return  # as an operator does, keep at least one of them running
                async with program.busy:
                    await (
                        program.crash() if fault.what == "kill" else program.freeze(fault.seconds)
                    )
            case "redis":
                async with self._server_is_busy:
                    await self._do_redis(fault)
            case "network":
                await self._do_network(fault, self._links[fault.pick % len(self._links)])
            case "chat":
                await self._do_chat(fault)

    async def _do_redis(self, fault: Fault) -> None:
        match fault.what:
            case "kill":
                await self._redis.crash()
            case "freeze":
                await self._redis.freeze(fault.seconds)
            case _:
                await self._redis.freeze_all(fault.seconds)

    async def _do_network(self, fault: Fault, link: RemoteLink) -> None:
        match fault.what:
            case "delay":
                link.do("delay", fault.seconds / 10)
                await asyncio.sleep(2.0)
                link.do("delay", 0.0)
            case "silent":
                link.do("silent", True)
                await asyncio.sleep(fault.seconds)
                link.do("silent", False)
            case "cut" | "half_close" | "lose_reply":
                link.do(fault.what)
            case _:
                link.do("lose_reply", True)

    async def _do_chat(self, fault: Fault) -> None:
        """The next calls fail. A late call is applied after the bot has given up."""
        release = self._chat.fail(fault.what, fault.pick)
        if fault.what in ("late", "late_answer"):
            self._late.append(release)
            await asyncio.sleep(fault.seconds)
            release()
