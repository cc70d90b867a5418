"""`python -m slack_sandbox`: a local Slack workspace in the browser, for one bot."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

try:
    from .sandbox import BOT_TOKEN, SIGNING_SECRET
    from .server import running_sandbox
    from .workspace import DEFAULT_SCOPES
except ModuleNotFoundError as error:  # installed without the extra `slack`
    if error.name != "aiohttp":
        raise
    print('sandbox: aiohttp is not installed. Run: pip install "hitl-core[slack]"', file=sys.stderr)
    sys.exit(2)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description="A local Slack workspace: a page to click in, and the Web API for one bot. "
        "Start it, give the bot the printed SLACK_API_URL, and open the page.",
    )
    parser.add_argument(
        "--port", type=int, default=3001, help="the port on 127.0.0.1; 0: any free port"
    )
    parser.add_argument(
        "--bot-url",
        default="http://127.0.0.1:3000/slack/events",
        help="where clicks and submissions are sent (default: %(default)s)",
    )
    parser.add_argument(
        "--signing-secret",
        default=SIGNING_SECRET,
        help="the secret that signs clicks and submissions (default: %(default)s)",
    )
    parser.add_argument(
        "--bot-token",
        default=BOT_TOKEN,
        help="the token that the bot must send (default: %(default)s)",
    )
    parser.add_argument(
        "--socket-mode",
        action="store_true",
        help="send them over the bot's sockets instead; set the bot's SLACK_APP_TOKEN to xapp-sandbox",
    )
    parser.add_argument(
        "--ask-url",
        help="the address of an agent: it gets what people write in #ask-agent, as JSON",
    )
    parser.add_argument(
        "--scopes",
        default=",".join(sorted(DEFAULT_SCOPES)),
        help="what the app may do, separated by commas (default: %(default)s)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        help="a file that keeps the messages; without it, they are lost when the sandbox stops",
    )
    parser.add_argument(
        "--no-rate-limits", action="store_true", help="don't limit the rate of the bot's calls"
    )
    return parser.parse_args()


async def _serve(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with running_sandbox(
        options.bot_url,
        options.signing_secret,
        options.bot_token,
        ask_url=options.ask_url,
        rate_limits=not options.no_rate_limits,
        scopes=[one for one in options.scopes.split(",") if one],
        data=options.data,
        port=options.port,
    ) as sandbox:
        sandbox.socket_mode.enabled = options.socket_mode
        print(f"sandbox: {sandbox.url}/  SLACK_API_URL={sandbox.api_url}", flush=True)
        await stop.wait()


if __name__ == "__main__":
    try:
        asyncio.run(_serve(_options()))
    except (OSError, ValueError) as error:
        sys.exit(f"sandbox: {error}")
