"""A bot that measures how long its event loop is blocked. At SIGUSR1 it prints the longest block since the
last SIGUSR1, in seconds of this process's CPU time, so other programs on the machine don't matter.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time

from bot.app import running_bot
from bot.commands import freeze_gc, shorten_switch_interval
from bot.settings import Settings

TICK = 0.002


class LoopMonitor:
    def __init__(self) -> None:
        self.longest = 0.0

    async def run(self) -> None:
        before = time.process_time()
        while True:
            await asyncio.sleep(TICK)
            now = time.process_time()
            self.longest, before = max(self.longest, now - before), now

    def print_longest(self) -> None:
        print(f"{self.longest:.6f}", flush=True)
        self.longest = 0.0


async def main() -> None:
    stopped, monitor = asyncio.Event(), LoopMonitor()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stopped.set)
    loop.add_signal_handler(signal.SIGUSR1, monitor.print_longest)
    async with running_bot(Settings.from_environment(os.environ), only="http") as bot:
        watching = asyncio.create_task(monitor.run())
        freeze_gc()
        shorten_switch_interval()
        print(f"bot: listening on {bot.endpoints['slack']}", flush=True)
        await stopped.wait()
        watching.cancel()


if __name__ == "__main__":
    asyncio.run(main())
