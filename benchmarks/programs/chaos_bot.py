"""A bot of `make chaos`: `chaos_bot ROLE PACE BUG`. PACE is a factor for the bot's own rate limits; BUG may
be "".
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from benchmarks.chaos.faults.bugs import add_bug
from bot.app import Timing, running_bot
from bot.settings import Settings

#: Seconds until a dead letter is tried again, or a card is checked after a call without an answer: less than
#: in production. The local Slack applies no call later than this.
REQUEUE, LATE = 5.0, 6.0


async def main(role: str, pace: float) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    settings = Settings.from_environment(os.environ)
    timing = Timing(pace=pace, requeue_interval=REQUEUE, late_window=LATE)
    only = "http" if role == "http" else "workers"
    async with running_bot(settings, timing, only=only) as bot:
        print(f"bot: listening on {bot.url}", flush=True)
        await stopped.wait()


if __name__ == "__main__":
    add_bug(sys.argv[3])
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
