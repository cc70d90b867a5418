"""The demo's agent, as a separate process. It can be killed at any moment.

    python -m slack_sandbox.demo.agent --redis URL --policy FILE --data DIR --port PORT --say URL

`POST /ask {"user", "text", "channel", "ts"}` starts a run; its final answer is posted to `--say`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

from hitl_core import Gate, HitlError

from .desk import Desk
from .shop import Shop
from .threads import Threads


async def serve(options: argparse.Namespace) -> None:
    async with Gate.connect(options.redis, policy=options.policy, agent="support") as gate:
        threads = Threads(options.data / "threads.jsonl")
        desk = Desk(gate, threads, Shop(options.data).tools, options.say)
        await desk.open(options.port)


def main() -> None:
    parser = argparse.ArgumentParser(description="The demo's agent.")
    parser.add_argument("--redis", required=True)
    parser.add_argument("--policy", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--say", required=True, metavar="URL")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(level=logging.WARNING, format="agent: %(message)s")
    try:
        asyncio.run(serve(options))
    except HitlError as error:
        raise SystemExit(f"agent: {error}") from error


if __name__ == "__main__":
    main()
