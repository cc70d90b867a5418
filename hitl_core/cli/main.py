"""Which command was meant."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hitl_core.cli import policy_check, policy_explain


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. `argv` is without the program's name."""
    args = _parser().parse_args(argv)
    return args.run(args)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hitl", description="Human approval for AI agents' tool calls."
    )
    subjects = parser.add_subparsers(metavar="SUBJECT", required=True)
    policy = subjects.add_parser("policy", help="the file that says which calls need a person")
    commands = policy.add_subparsers(metavar="COMMAND", required=True)
    for command in (policy_check, policy_explain):
        command.add_to(commands)
    return parser
