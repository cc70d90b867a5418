"""What every command has: a line of help, examples, and a function that runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]

#: Takes what was typed, returns the exit code.
Run = Callable[[argparse.Namespace], int]


def add_command(
    commands: Commands, name: str, run: Run, *, help: str, epilog: str, details: str = ""
) -> argparse.ArgumentParser:
    """A command whose page says its help, `more`, its options, and the epilog as it stands."""
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
    """A word that several commands belong to, `hitl reviews`."""
    parser = commands.add_parser(
        name,
        help=help,
        description=f"{help[0].upper()}{help[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser.add_subparsers(metavar="COMMAND", required=True)
