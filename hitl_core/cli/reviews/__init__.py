"""`hitl reviews`: list, show, decide, resolve, cancel, hold and release reviews. Public: `add_to`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl_core.cli.reviews import cancel, decide, hold, list_reviews, release, resolve, show

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

__all__ = ["add_to"]


def add_to(commands: Commands) -> None:
    """Add the commands of this subject."""
    for command in (list_reviews, show, decide, resolve, cancel, hold, release):
        command.add_to(commands)
