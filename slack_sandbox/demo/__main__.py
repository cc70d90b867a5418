"""`python -m slack_sandbox.demo`, or `make demo`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(argv: list[str] | None = None) -> int:
    """0 when all went well, 1 when a check failed, 2 for wrong input."""
    options = _options(argv)
    try:
        return _run(options)
    except KeyboardInterrupt:
        print("\nStopped.")
        return 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make demo",
        description="Redis, a local Slack in the browser, the bot and an agent, in processes of their own.",
    )
    parser.add_argument("--ask", help='what to ask the agent at once, say "refund order 1042"')
    parser.add_argument("--check", action="store_true", help="run the main job without a browser")
    parser.add_argument("--calls", type=Path, help="with --check: turns to play, JSON lines")
    parser.add_argument("--policy", type=Path, help="another policy")
    parser.add_argument("--port", type=_port, default=None, help="where the page is (3001)")
    parser.add_argument("--data", type=Path, default=Path(".demo"), help="where everything is kept")
    options = parser.parse_args(argv)
    if options.ask and (options.check or options.calls):
        parser.error("--ask (ASK=) is for the demo in the browser; --check plays --calls (CALLS=)")
    return options


def _run(options: argparse.Namespace) -> int:
    # Imported here, so that Ctrl-C in the first second ends it as quietly as later.
    from hitl_core.errors import HitlError, PolicyError
    from hitl_core.policy import Policy

    from . import check, demo
    from .children import ChildError

    checking = options.check or options.calls
    usual = HERE.parents[1] / "examples" / "policy.yaml"
    if checking:
        usual = HERE / ("check_any.yaml" if options.calls else "check.yaml")
    policy = options.policy or usual
    try:
        if checking:
            calls = options.calls or HERE / "check.jsonl"
            return check.run(options.data / "check", policy, calls, options.port or 0)
        Policy.load(policy)  # before anything is started
        return demo.run(options.data, policy, options.port or 3001, options.ask)
    except PolicyError as error:
        print(f"demo: {error} All of it: hitl policy check {policy}", file=sys.stderr)
    except (HitlError, ChildError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
    return 2


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (1 to 65535)")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
