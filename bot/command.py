"""What the bot adds to the command `hitl`: `hitl serve`, and `hitl policy check --slack`.

Imported for every `hitl --help`, so it imports nothing of the extra `slack` until a command runs.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING, get_args

from hitl_core.cli.command import add_command
from hitl_core.cli.plugins import require_extra
from hitl_core.cli.terminal import complain
from hitl_core.errors import HitlError
from hitl_core.policy import Policy

from .settings import BotRole, Settings
from .web.logs import OneLineFormatter

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

#: How long a bot that was told to stop goes on serving, in seconds: a load balancer must see that it is not
#: ready any more, and look away. With `LAST_REQUESTS` and `LAST_DELIVERIES` it ends within 10 s.
SHUTDOWN_GRACE = 2.5
#: What the extra `slack` brings.
SLACK_PACKAGES = ("aiohttp", "prometheus_client", "slack_bolt")

_DETAILS = """\
It answers clicks and agents (`http`), and it shows reviews and escalates them
(`workers`), until SIGTERM; then it finishes what was begun. Run any number of
bots beside one Redis."""
_EPILOG = """\
example:
  $ hitl serve --only http

Settings, by environment:
{settings}

Ends with 0 after SIGTERM or SIGINT, 2 where a setting or a package is missing
or wrong, or Redis or Slack refuses the bot at its start.
"""


def add_to(commands: Commands) -> None:
    """Add `hitl serve`."""
    names = ", ".join(field.name.upper() for field in fields(Settings))
    settings = textwrap.fill(names, 80, initial_indent="  ", subsequent_indent="  ")
    parser = add_command(
        commands,
        "serve",
        run,
        help="run the bot: show reviews in Slack, and store what people decide",
        details=_DETAILS,
        epilog=_EPILOG.format(settings=settings),
    )
    parser.add_argument(
        "--only",
        choices=get_args(BotRole),
        help="one half of the bot; without this a process does both",
    )


def run(args: argparse.Namespace) -> int:
    """0 after a clean end, 2 where a setting or a package is missing or wrong."""
    try:
        require_extra("slack", *SLACK_PACKAGES)
        settings = Settings.from_environment(os.environ)
        _configure_logging(settings.hitl_log_level.upper())
        asyncio.run(_serve(settings, args.only))
    except HitlError as error:
        return complain(str(error))
    return 0


def check_policy(policy: Policy) -> int:
    """Prints which channels, people and groups of a policy the bot can use. 0 where it can use all of them.

    Raises SettingsError where a setting or a package is missing.
    """
    require_extra("slack", *SLACK_PACKAGES)
    from . import policy_check

    channel = policy_check.open_channel(os.environ)
    findings = asyncio.run(policy_check.check_policy(policy, channel))
    for finding in findings:
        print(finding)
    return 0 if all(finding.usable == "yes" for finding in findings) else 1


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
