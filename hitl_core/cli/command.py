"""Adds commands to the parser: each has a help line, examples, and a function that runs it.

Some commands come from other packages as entry points, so the core imports none of these packages: the bot
has `hitl serve`, the local Slack has `hitl demo`. Both packages are in our wheel; what they import comes with
an extra.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from hitl_core.errors import SettingsError

#: argparse has no public name for this.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # pyright: ignore[reportPrivateUsage]

#: Gets the parsed arguments, returns the exit code.
Run = Callable[[argparse.Namespace], int]

#: The entry points. Each is a function that takes `Commands` and adds a command. Its module imports only
#: argparse and our own code.
COMMANDS = "hitl.commands"

#: The entry points of policy checks. Each takes a Policy, prints what it found, and returns the exit code.
POLICY_CHECKS = "hitl.policy_checks"


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
    parser.set_defaults(run=run, command=parser)
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


def add_plugin_commands(commands: Commands) -> None:
    for entry in sorted(entry_points(group=COMMANDS), key=lambda entry: entry.name):
        entry.load()(commands)


def load_policy_check() -> Any:
    """The bot's check of a policy's places. Raises SettingsError if this environment has no bot."""
    for entry in entry_points(group=POLICY_CHECKS):
        return entry.load()
    raise SettingsError('No bot is installed. Run: pip install "hitl-core[slack]"')


def require_extra(extra: str, *packages: str) -> None:
    """Raises SettingsError for the first of an extra's packages that is not installed."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise SettingsError(
                f'{package} is not installed. Run: pip install "hitl-core[{extra}]"'
            )
