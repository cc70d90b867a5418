"""`hitl policy`: check, explain, test and import a policy file. Public: `add_to`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_core.cli.policy import check, explain, import_policy, run_test

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

__all__ = ["add_to"]


def add_to(commands: Commands) -> None:
    """Add the commands of this subject."""
    for command in (check, explain, run_test, import_policy):
        command.add_to(commands)
