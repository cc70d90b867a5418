"""`python -m bot serve`: the bot's commands from a checkout, without an install."""

from __future__ import annotations

import argparse
import sys

from .commands import add_to


def main() -> int:
    """Runs the command and returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bot")
    add_to(parser.add_subparsers(metavar="COMMAND", required=True))
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
