"""The bot without its pause of a second between two posts: to fill a channel with reviews."""

from __future__ import annotations

import asyncio
import os
import signal

from bot.app import Timing, running_bot
from bot.settings import Settings


async def main() -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    async with running_bot(Settings.from_environment(os.environ), Timing(pace=0.0)) as bot:
        print(f"listening on {next(iter(bot.endpoints.values()))}", flush=True)
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(main())
