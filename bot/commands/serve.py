"""`hitl serve`: runs the bot."""

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
from functools import partial
from typing import TYPE_CHECKING, get_args

from hitl_core.cli import add_command, complain, require_extra
from hitl_core.errors import HitlError
from hitl_core.telemetry import JsonFormatter

from ..logs import OneLineFormatter
from ..settings import BotRole, Settings, describe_settings

if TYPE_CHECKING:
    from hitl_core.cli import Commands

#: How long a bot still serves after SIGTERM, in seconds, so that a load balancer notices that it is no longer
#: ready. With the time for requests and deliveries in progress, the bot ends within 10 s.
SHUTDOWN_GRACE = 2.5
#: The packages that every bot imports. Each chat system's extra includes them.
_BOT_PACKAGES = ("aiohttp", "prometheus_client")

_DETAILS = """\
It answers clicks and agents (`http`), and it shows reviews and escalates them
(`workers`), until SIGTERM; then it finishes what it has begun. Run any number
of bots with one Redis."""
_EPILOG = """\
example:
  $ hitl serve --only http

Settings (environment variables):
{settings}

Exits with 0 after SIGTERM or SIGINT; 2 if a setting or a package is missing or
wrong, or if Redis, Slack or Teams refuses the bot at its start.
"""


def add_to(commands: Commands) -> None:
    """Add `hitl serve`."""
    parser = add_command(
        commands,
        "serve",
        run,
        help="run the bot: show reviews in Slack and Teams, and store what people decide",
        details=_DETAILS,
        epilog=_EPILOG,
    )
    parser.formatter_class = _HelpWithSettings
    parser.add_argument(
        "--only",
        choices=get_args(BotRole),
        help="one half of the bot; without this a process does both",
    )


class _HelpWithSettings(argparse.RawDescriptionHelpFormatter):
    """Adds the settings only when the page is printed: it parses source, and each `hitl` has this parser."""

    def add_text(self, text: str | None) -> None:
        super().add_text(text and text.replace("{settings}", _settings_text()))


def _settings_text() -> str:
    """Each setting, with what it is below it."""
    fill = partial(textwrap.fill, width=80, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(
        f"  {name.upper()}\n{fill(text)}" for name, text in describe_settings().items()
    )


def run(args: argparse.Namespace) -> int:
    """Returns 0 after a clean end, 2 if a setting or a package is missing or wrong."""
    try:
        settings = Settings.from_environment(os.environ)
        require_packages(settings)
        configure_logging(settings.hitl_log_level.upper(), settings.hitl_log_format)
        asyncio.run(_serve(settings, args.only))
    except HitlError as error:
        if os.environ.get("HITL_LOG_FORMAT", "").strip() == "json":  # the settings may be wrong
            print(_json_line("ERROR", str(error)), file=sys.stderr)
            return 2
        return complain(str(error))
    return 0


def _json_line(level: str, message: str) -> str:
    """A line that is printed at any HITL_LOG_LEVEL."""
    return JsonFormatter().format(
        logging.makeLogRecord({"name": __name__, "levelname": level, "msg": message})
    )


def require_packages(settings: Settings) -> None:
    """Raises SettingsError, which says what to install, if a chat system's package is missing."""
    if settings.has_slack:
        require_extra("slack", *_BOT_PACKAGES, "slack_bolt")
    if settings.has_teams:
        require_extra("teams", *_BOT_PACKAGES, "microsoft_teams")


def configure_logging(level: str, format: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    text = OneLineFormatter("%(asctime)s %(levelname)s %(name)s %(message)s")
    handler.setFormatter(JsonFormatter() if format == "json" else text)
    logging.basicConfig(level=level, handlers=[handler])
    # Bolt reads SLACK_BOT_TOKEN by itself, and logs at each start that it is not used.
    bolt = logging.getLogger("slack_bolt")
    bolt.addFilter(lambda record: "`token` will be unused" not in record.getMessage())
    for library in ("httpx", "httpcore", "msal"):  # they log the address of each call to Teams
        logging.getLogger(library).setLevel("WARNING")
    # At DEBUG Slack's libraries would write the arguments of every card. And Bolt builds its DEBUG texts at
    # each click, even if they are not logged, unless its own logger has a level.
    for library in (bolt, logging.getLogger("slack_sdk")):
        library.setLevel("INFO" if level == "DEBUG" else level)


def freeze_gc() -> None:
    """Exclude the imported modules from garbage collection, which would take a tenth of a click's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def shorten_switch_interval() -> None:
    """Threads that draw or parse large data release Python's lock after 1 ms instead of 5 ms."""
    sys.setswitchinterval(0.001)


async def _serve(settings: Settings, only: BotRole | None) -> None:
    from ..app import running_bot
    from ..web import open_more_files

    open_more_files()
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signals.put_nowait, number)
    async with running_bot(settings, only=only) as bot:
        text = f"bot: listening on {' and '.join(bot.endpoints.values()) or bot.url}"
        is_json = settings.hitl_log_format == "json"
        print(_json_line("INFO", text) if is_json else text, flush=True)
        freeze_gc()
        shorten_switch_interval()
        if await signals.get() == signal.SIGTERM and only != "workers":
            bot.leaving.set()
            with contextlib.suppress(TimeoutError):  # a second signal ends the wait
                await asyncio.wait_for(signals.get(), SHUTDOWN_GRACE)
