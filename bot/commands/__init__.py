"""The bot's part of the command `hitl`: `serve` runs the bot, `teams_package` writes the app for Teams,
`teams_names` lists and forgets where names of places in Teams lead, `policy_check` is
`hitl policy check --channels`.

Imported for every `hitl --help`, so it imports nothing of an extra until a command runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import serve, teams_names, teams_package
from .policy_check import check_policy
from .serve import freeze_gc, shorten_switch_interval

if TYPE_CHECKING:
    from hitl_core.cli import Commands

__all__ = ["add_to", "check_policy", "freeze_gc", "shorten_switch_interval"]


def add_to(commands: Commands) -> None:
    """Add `hitl serve`, `hitl teams-package` and `hitl teams-names`."""
    for command in (serve, teams_package, teams_names):
        command.add_to(commands)
