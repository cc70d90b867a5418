"""`python -m bot serve`: the bot, set up by its environment."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
from dataclasses import fields
from typing import get_args

from hitl_core.errors import HitlError

from .settings import BotRole, Settings
from .web.logs import OneLineFormatter

#: How long a bot that was told to stop goes on serving, in seconds: a load balancer must see that it is not
#: ready any more, and look away. With `LAST_REQUESTS` and `LAST_DELIVERIES` it ends within 10 s.
SHUTDOWN_GRACE = 2.5
#: What the extra `slack` brings.
SLACK_PACKAGES = ("aiohttp", "slack_bolt", "slack_sdk")


def main(argv: list[str] | None = None) -> int:
    """0 after a clean end, 2 where a setting or a package is missing or wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m bot",
        description="Shows reviews in Slack and stores what people decide.",
        epilog="Settings, by environment: " + ", ".join(f.name.upper() for f in fields(Settings)),
    )
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser(
        "serve",
        help="serve Slack's requests and show reviews, until SIGTERM",
        description="Serve Slack's requests and show reviews, until SIGTERM; then finish what was begun.",
    )
    serve.add_argument(
        "--only",
        choices=get_args(BotRole),
        help="one half of the bot: `http` answers clicks and agents, `workers` shows reviews and escalates"
        " them. Run any number of each; without this a process does both",
    )
    check = commands.add_parser(
        "check-policy",
        help="say which channels, people and groups of a policy Slack knows",
        description="Say which channels, people and groups of a policy can be used, and why others can't. It"
        " needs the bot's SLACK_BOT_TOKEN and HITL_CHANNEL, and changes nothing. Exits with 0 where"
        " all of them can be used, 1 where one can't or is not known, 2 where a setting or the policy is"
        " wrong.",
    )
    check.add_argument("file", metavar="FILE", help="the policy, a YAML file")
    args = parser.parse_args(argv)
    try:
        if args.command == "check-policy":
            return asyncio.run(_check_policy(args.file))
        settings = Settings.from_environment(os.environ)
        _configure_logging(settings.hitl_log_level.upper())
        asyncio.run(_serve(settings, args.only))
    except HitlError as error:
        print(f"bot: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:  # installed for agents alone
        if error.name not in SLACK_PACKAGES:
            raise
        print(f'bot: {error.name} is not installed: pip install -e ".[slack]"', file=sys.stderr)
        return 2
    return 0


def _configure_logging(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLineFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    # Bolt finds SLACK_BOT_TOKEN by itself, and says at each start that it is not needed.
    bolt = logging.getLogger("slack_bolt")
    bolt.addFilter(lambda record: "`token` will be unused" not in record.getMessage())
    if level == "DEBUG":  # Slack's libraries would write every card's arguments
        for library in ("slack_sdk", "slack_bolt"):
            logging.getLogger(library).setLevel("INFO")


def freeze_gc() -> None:
    """What was imported stays, so it need not be looked through again and again: a tenth of a click."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


async def _check_policy(file: str) -> int:
    from hitl_core.policy import Policy

    from .policy_check import check_policy, open_channel

    findings = await check_policy(Policy.load(file), open_channel(os.environ))
    for each in findings:
        print(each)
    return 0 if all(each.usable == "yes" for each in findings) else 1


def shorten_switch_interval() -> None:
    """Threads that draw or read what is large let go of Python's lock after a millisecond, not five."""
    sys.setswitchinterval(0.001)


async def _serve(settings: Settings, only: BotRole | None) -> None:
    from .app import running_bot
    from .web.connections import open_more_files

    open_more_files()
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signals.put_nowait, number)
    async with running_bot(settings, only=only) as bot:
        print(f"bot: listening on {bot.url}", flush=True)
        freeze_gc()
        shorten_switch_interval()
        if await signals.get() == signal.SIGTERM and only != "workers":
            bot.leaving.set()
            with contextlib.suppress(TimeoutError):  # a second signal has less patience
                await asyncio.wait_for(signals.get(), SHUTDOWN_GRACE)


if __name__ == "__main__":
    sys.exit(main())
