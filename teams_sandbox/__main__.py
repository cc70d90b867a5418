"""`python -m teams_sandbox`: a local Teams tenant, for one bot."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys

try:
    from .sandbox import CLIENT_SECRET
    from .server import running_sandbox
    from .workspace import DEFAULT_PERMISSIONS
except ModuleNotFoundError as error:  # installed without the extra `teams`
    if error.name not in ("aiohttp", "jwt", "cryptography"):
        raise
    message = f'sandbox: {error.name} is not installed. Run: pip install "hitl-core[teams]"'
    print(message, file=sys.stderr)
    sys.exit(2)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description="A local Teams tenant: the Connector, Graph and the logins for one bot. "
        "Start it and give the bot the printed settings.",
    )
    parser.add_argument(
        "--port", type=int, default=3002, help="the port on 127.0.0.1; 0: any free port"
    )
    parser.add_argument(
        "--bot-url",
        default="http://127.0.0.1:3000/api/messages",
        help="where activities are sent (default: %(default)s)",
    )
    parser.add_argument(
        "--client-secret",
        default=CLIENT_SECRET,
        help="the app's secret at Entra (default: %(default)s)",
    )
    parser.add_argument(
        "--permissions",
        default=",".join(sorted(DEFAULT_PERMISSIONS)),
        help="what the app may read in Graph, separated by commas (default: %(default)s)",
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
        options.client_secret,
        rate_limits=not options.no_rate_limits,
        permissions=[one for one in options.permissions.split(",") if one],
        port=options.port,
    ) as sandbox:
        settings = " ".join(f"{name}={value}" for name, value in sandbox.settings().items())
        print(f"sandbox: {sandbox.url}/  {settings}", flush=True)
        await stop.wait()


if __name__ == "__main__":
    try:
        asyncio.run(_serve(_options()))
    except (OSError, ValueError) as error:
        sys.exit(f"sandbox: {error}")
