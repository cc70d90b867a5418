"""`python -m examples.demo`, or `make demo`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from examples.demo import check, demo
from examples.demo.children import ChildError
from hitl_core.errors import HitlError

HERE = Path(__file__).parent


def main(argv: list[str] | None = None) -> int:
    """0 when all went well, 1 when a check failed, 2 for wrong input."""
    parser = argparse.ArgumentParser(
        prog="make demo",
        description="Redis, a local Slack in the browser, the bot and an agent, in processes of their own.",
    )
    parser.add_argument("--ask", help='what to ask the agent at once, say "refund order 1042"')
    parser.add_argument("--check", action="store_true", help="run the main job without a browser")
    parser.add_argument("--calls", type=Path, help="with --check: turns to play, JSON lines")
    parser.add_argument("--policy", type=Path, help="another policy")
    parser.add_argument("--port", type=int, default=None, help="where the page is (3001)")
    parser.add_argument("--data", type=Path, default=Path(".demo"), help="where everything is kept")
    options = parser.parse_args(argv)
    try:
        if options.check or options.calls:
            calls = options.calls or HERE / "check.jsonl"
            policy = options.policy or (
                HERE / ("check_any.yaml" if options.calls else "check.yaml")
            )
            return check.run(options.data / "check", policy, calls, options.port or 0)
        policy = options.policy or HERE.parent / "policy.yaml"
        return demo.run(options.data, policy, options.port or 3001, options.ask)
    except (HitlError, ChildError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
