"""The bot with other rate limits: `paced_bot PACE IDLE`, in seconds, for a Slack with scaled limits."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from bot.app import Timing, running_bot
from bot.settings import Settings


async def main(pace: float, idle: float) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    timing = Timing(pace=pace, lane_lease=idle)
    async with running_bot(Settings.from_environment(os.environ), timing) as bot:
        print(f"bot: listening on {bot.endpoints['slack']}", flush=True)
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(main(*map(float, sys.argv[1:])))
