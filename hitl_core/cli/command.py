"""Adds commands to the parser: each has a help line, examples, and a function that runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

#: argparse has no public name for this.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # pyright: ignore[reportPrivateUsage]

#: Gets the parsed arguments, returns the exit code.
Run = Callable[[argparse.Namespace], int]


def add_command(
    commands: Commands, name: str, run: Run, *, help: str, epilog: str, details: str = ""
) -> argparse.ArgumentParser:
    """Add a command. Its help page has `help`, `details`, the options, and `epilog` unchanged."""
    sentence = f"{help[0].upper()}{help[1:]}."
    parser = commands.add_parser(
        name,
        help=help,
        description=f"{sentence}\n\n{details}" if details else sentence,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_subject(commands: Commands, name: str, *, help: str, epilog: str) -> Commands:
    """Add a group of commands, such as `hitl reviews`."""
    parser = commands.add_parser(
        name,
        help=help,
        description=f"{help[0].upper()}{help[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser.add_subparsers(metavar="COMMAND", required=True)
