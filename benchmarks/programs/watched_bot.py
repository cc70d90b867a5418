"""A bot that knows how long its event loop was held. At SIGUSR1 it prints the longest hold since the last
time, in seconds of this process's CPU: what other programs take of the machine doesn't count.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time

from bot.__main__ import favour_the_loop, spare_the_collector
from bot.app import running_bot
from bot.settings import Settings

TICK = 0.002


class Watch:
    def __init__(self) -> None:
        self.longest = 0.0

    async def run(self) -> None:
        before = time.process_time()
        while True:
            await asyncio.sleep(TICK)
            now = time.process_time()
            self.longest, before = max(self.longest, now - before), now

    def tell(self) -> None:
        print(f"{self.longest:.6f}", flush=True)
        self.longest = 0.0


async def main() -> None:
    stopped, watch = asyncio.Event(), Watch()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stopped.set)
    loop.add_signal_handler(signal.SIGUSR1, watch.tell)
    async with running_bot(Settings.from_environment(os.environ), only="http") as bot:
        watching = asyncio.create_task(watch.run())
        spare_the_collector()
        favour_the_loop()
        print(f"bot: listening on {bot.url}", flush=True)
        await stopped.wait()
        watching.cancel()


if __name__ == "__main__":
    asyncio.run(main())
