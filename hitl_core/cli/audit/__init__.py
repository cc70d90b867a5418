"""`hitl audit`: show, export and verify the audit. Public: `add_to`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_core.cli.audit import export, show, verify

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

__all__ = ["add_to"]


def add_to(commands: Commands) -> None:
    """Add the commands of this subject."""
    for command in (show, export, verify):
        command.add_to(commands)
