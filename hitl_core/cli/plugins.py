"""Commands from other packages: the bot has `hitl serve`, the local Slack has `hitl demo`.

Both are entry points, so the core imports neither of them. Both are in our wheel; what they import comes
with an extra.
"""

from __future__ import annotations

import importlib.util
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from hitl_core.errors import SettingsError

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

#: Each entry is a function that takes `Commands` and adds one. It imports nothing but argparse and ours.
COMMANDS = "hitl.commands"
#: Each entry takes a Policy, prints what it found, and returns the exit code.
POLICY_CHECKS = "hitl.policy_checks"


def add_plugin_commands(commands: Commands) -> None:
    for entry in sorted(entry_points(group=COMMANDS), key=lambda entry: entry.name):
        entry.load()(commands)


def load_policy_check(name: str) -> Any:
    """Raises SettingsError where this environment has none of that name."""
    for entry in entry_points(group=POLICY_CHECKS, name=name):
        return entry.load()
    raise SettingsError(f'No check of {name} is installed. Run: pip install "hitl-core[{name}]"')


def require_extra(extra: str, *packages: str) -> None:
    """Raises SettingsError for the first of an extra's packages that is not installed."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise SettingsError(
                f'{package} is not installed. Run: pip install "hitl-core[{extra}]"'
            )
